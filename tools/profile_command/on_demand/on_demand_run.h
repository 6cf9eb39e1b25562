// on_demand_run.h - one command that records, at the same time, all programs
// that have registered for it.
//
//   if (command.on_demand) {
//     return RecordOnDemand(std::move(command), backends, exporters);
//   }
#ifndef KYMO_TOOLS_PROFILE_COMMAND_ON_DEMAND_ON_DEMAND_RUN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_ON_DEMAND_ON_DEMAND_RUN_H_

#include "profiler/plugin/registry.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

// Starts Kymo's programs and Kineto's (demand_daemon.h), and attaches to those
// that only have a door (attach_run.h). Gathers their traces in one folder, and
// writes what a run writes of all of them. SIGINT, SIGTERM or SIGHUP ends it
// early. Returns the exit status: 0 if there is a trace, else 1; 3 with
// --strict if a program's is missing.
int RecordOnDemand(ProfileCommand command, const BackendRegistry& backends,
                   const ExporterRegistry& exporters);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_ON_DEMAND_ON_DEMAND_RUN_H_
