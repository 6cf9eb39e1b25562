// deliver_large.h - a recording whose trace does not fit into memory, as what
// comes out of it all the same: the table by name, the stacks, the summary.
//
//   if (!finished.kept.empty()) {
//     LargeDelivery delivery = DeliverLarge(finished.kept.front(), rest,
//                                           command, exporters, out);
//
// The recording is read window by window (tools/deliver/sum_windows.h), each
// small enough for the limit that the trace did not keep. What else was
// recorded (samples) is in `rest` and in the table.
//
// Errors: the first is in `status`; what could be made is there.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_DELIVER_LARGE_H_
#define KYMO_TOOLS_PROFILE_COMMAND_DELIVER_LARGE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

struct LargeDelivery {
  std::string table;  // of key_averages.txt
  // What was not made and why, and what reads the file.
  std::vector<std::string> notices;
  absl::Status status;
};

// `rest` is null where there is no trace of what else was recorded.
LargeDelivery DeliverLarge(const KeptRecording& kept, const model::Trace* rest,
                           const ProfileCommand& command,
                           const ExporterRegistry& exporters,
                           OutputDirectory& out);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_DELIVER_LARGE_H_
