// attach_run.h - one recording of processes that run already.
//
//   if (command.attach.is_wanted()) {
//     return ProfileRunning(std::move(command), backends, exporters);
//   }
#ifndef KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_RUN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_RUN_H_

#include "profiler/plugin/registry.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

// Records until the command's duration is over, SIGINT, SIGTERM or SIGHUP
// comes, or all named processes have ended. Returns the exit status: 0 if files
// were written, 1 if nothing was recorded (no such process, not permitted), 2
// for a wrong flag, 3 with --strict if something is missing.
int ProfileRunning(ProfileCommand command, const BackendRegistry& backends,
                   const ExporterRegistry& exporters);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_RUN_H_
