// run_delivery.h - a recording that has stopped, from its backends to its files
// and to the screen.
//
//   return DeliverRun({.recording = *recording, .stopped = stopped,
//                      .facts = facts, .metadata = metadata,
//                      .summer = *summer},
//                     command, exporters, *out);
#ifndef KYMO_TOOLS_PROFILE_COMMAND_DELIVERY_RUN_DELIVERY_H_
#define KYMO_TOOLS_PROFILE_COMMAND_DELIVERY_RUN_DELIVERY_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/registry.h"
#include "profiler/session/recording.h"
#include "tools/command_line/run_folder.h"
#include "tools/deliver/sum_windows.h"
#include "tools/profile_command/first_screen.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

// The exit status with --strict if something is missing.
inline constexpr int kExitLost = 3;

struct StoppedRun {
  Recording& recording;
  absl::Status stopped;
  RunFacts facts;
  std::vector<std::pair<std::string, std::string>> metadata;
  LiveSummer& summer;
  bool may_be_strict = true;  // --strict counts
  // Nothing is said of what files lack. Each rank of a job is quiet, since the
  // whole has the screen. But only a rank knows what its files lack.
  bool hides_notices = false;
  // Empty, or gets the trace, if it fits into memory.
  std::function<void(const model::Trace&)> on_trace;
};

// Analyses the recording, writes its files and shows them. The result is an
// exit status: kExitFailed if there is no file, kExitLost, or 0.
int DeliverRun(const StoppedRun& run, const ProfileCommand& command,
               const ExporterRegistry& exporters, RunFolder& out);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_DELIVERY_RUN_DELIVERY_H_
