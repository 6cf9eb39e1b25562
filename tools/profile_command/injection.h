// injection.h - makes the runtime hear what a program says to other tools.
//
//   InjectInto("/path/libkymo_runtime.so", &environment);
//
// Libraries that are annotated for other tools load one that a variable names,
// when they are used first. A tool that the user has named there already is
// loaded behind ours, and gets every call, too.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_INJECTION_H_
#define KYMO_TOOLS_PROFILE_COMMAND_INJECTION_H_

#include <string>

#include "profiler/plugin/activity_backend.h"

namespace kymo::tools {

// Adds the variables of those interfaces that the recording listens to, as it
// says in record::kCaptureVariable; takes that variable away.
void InjectInto(const std::string& runtime, Environment* environment);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_INJECTION_H_
