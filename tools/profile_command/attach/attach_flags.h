// attach_flags.h - which flags have no effect on processes that run already.
//
//   Say(FlagsWithoutEffect(command, backends, recording->backends()));
//   // "; without effect here: --with_stack, --host_period_ms"
#ifndef KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_FLAGS_H_
#define KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_FLAGS_H_

#include <string>
#include <vector>

#include "profiler/plugin/registry.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

// Those of `command` that are about annotated ranges, or are settings of
// backends, if none of `recorded`, the backends in use, reads them. Empty:
// there are none.
std::string FlagsWithoutEffect(const ProfileCommand& command,
                               const BackendRegistry& backends,
                               const std::vector<std::string>& recorded);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_ATTACH_ATTACH_FLAGS_H_
