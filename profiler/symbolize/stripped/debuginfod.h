// debuginfod.h - asks the user's debuginfod servers for debug information.
//
//   const OwnedDescriptor file = FindByDebuginfod(build_id);
//
// Nobody is asked unless DEBUGINFOD_URLS is set. The client is elfutils' own
// library, loaded when it is first needed: it keeps what it gets in the user's
// cache folder, and knows all of debuginfod's variables. Where it is not
// installed (Debian: libdebuginfod1), nothing is found.
//
// Limits: all questions of a process together take at most 60 seconds; then no
//   more are asked.
// Threads: one call at a time.
#ifndef KYMO_PROFILER_SYMBOLIZE_STRIPPED_DEBUGINFOD_H_
#define KYMO_PROFILER_SYMBOLIZE_STRIPPED_DEBUGINFOD_H_

#include <string>

#include "profiler/base/owned_descriptor.h"

namespace kymo::symbolize {

// `build_id` in bytes. Not open if nobody has the file.
OwnedDescriptor FindByDebuginfod(const std::string& build_id);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_STRIPPED_DEBUGINFOD_H_
