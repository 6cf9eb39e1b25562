// injection.h - makes a child's environment for what the backends need.
//
//   KYMO_ASSIGN_OR_RETURN(environment, EnvironmentFor(setup, find));
//
// It preloads Kymo's runtime, then the libraries that backends preload, then
// the user's own. It also names the libraries that the backends inject.
//
// Errors: kNotFound if a library is missing, kFailedPrecondition if the loader
//   cannot preload the runtime or a backend's library (runtime_files.h).
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_INJECTION_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_INJECTION_H_

#include <functional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "profiler/plugin/target_setup.h"
#include "tools/profile_command/start/runtime_files.h"

namespace kymo::tools {

// The path of one of Kymo's libraries; empty if it is missing.
using FindLibrary = std::function<std::string(const std::string& file)>;

// `places` may get links to what is preloaded.
absl::StatusOr<Environment> EnvironmentFor(
    const TargetSetup& setup, const FindLibrary& find,
    std::span<const std::string> places = LinkPlaces());

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_INJECTION_H_
