// injection.h - makes the runtime hear what a program says to other tools.
//
//   InjectInto(settings, "/path/libkymo_runtime.so", &environment);
//
// Libraries that are annotated for other tools load one that a variable names,
// when they are used first. A tool that the user has named there already is
// loaded behind ours, and gets every call, too.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_INJECTION_H_
#define KYMO_TOOLS_PROFILE_COMMAND_INJECTION_H_

#include <map>
#include <string>

#include "profiler/plugin/activity_backend.h"

namespace kymo::tools {

// Adds the variables, unless nothing is recorded there (no arena) or the
// settings switch an interface off (capture_nvtx=0).
void InjectInto(const std::map<std::string, std::string>& settings,
                const std::string& runtime, Environment* environment);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_INJECTION_H_
