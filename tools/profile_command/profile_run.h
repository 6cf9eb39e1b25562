// profile_run.h - one run of the command: records a target to its end, then
// writes and shows what it saw.
//
//   return ProfileTarget(*std::move(command), backends, exporters);
#ifndef KYMO_TOOLS_PROFILE_COMMAND_PROFILE_RUN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_PROFILE_RUN_H_

#include "profiler/plugin/registry.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

// Ends this process as the target ended. Returns an exit status only if the
// target did not run, nothing could be written, or --strict sets the status.
int ProfileTarget(ProfileCommand command, const BackendRegistry& backends,
                  const ExporterRegistry& exporters);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_PROFILE_RUN_H_
