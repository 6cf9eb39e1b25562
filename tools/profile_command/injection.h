// injection.h - a child's environment, from what the backends ask for.
//
//   KYMO_ASSIGN_OR_RETURN(environment, EnvironmentFor(setup, RuntimePath));
//
// It preloads Kymo's runtime, before what the user preloads, and names the
// libraries that the backends inject.
//
// Errors: kNotFound for a library that is not there, kFailedPrecondition for a
//   runtime that the loader cannot preload.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_INJECTION_H_
#define KYMO_TOOLS_PROFILE_COMMAND_INJECTION_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "profiler/plugin/target_setup.h"

namespace kymo::tools {

// The path of a library of Kymo's; empty: it is not there.
using FindLibrary = std::function<std::string(const std::string& file)>;

absl::StatusOr<Environment> EnvironmentFor(const TargetSetup& setup,
                                           const FindLibrary& find);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_INJECTION_H_
