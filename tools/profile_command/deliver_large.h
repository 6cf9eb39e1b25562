// deliver_large.h - tables and files of a recording whose trace does not fit
// into memory: the table by name, the stacks, the summary.
//
//   if (!finished.kept.empty()) {
//     LargeDelivery delivery = DeliverLarge(finished.kept, rest,
//                                           command, exporters, out);
//
// The recording is read window by window (tools/deliver/sum_windows.h). Each
// window is small enough for the memory limit that the trace exceeds. `rest`
// has the other records (samples), which are in the table, too.
//
// The built-in backends keep one recording between them. Of several, the table
// is that of the first; the notices say where all of them are.
//
// Errors: `status` has the first one; the other results are still made.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_DELIVER_LARGE_H_
#define KYMO_TOOLS_PROFILE_COMMAND_DELIVER_LARGE_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

struct LargeDelivery {
  std::string table;  // of key_averages.txt
  model::LossLedger ledger;
  // Says which results are missing and why, and which command reads the file.
  std::vector<std::string> notices;
  absl::Status status;
  bool is_read = true;  // the recording; else `status` says why not
};

// `rest` is null if there is no trace of other records. REQUIRES: `kept` is not
// empty.
LargeDelivery DeliverLarge(std::span<const KeptRecording> kept,
                           const model::Trace* rest,
                           const ProfileCommand& command,
                           const ExporterRegistry& exporters,
                           OutputDirectory& out);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_DELIVER_LARGE_H_
