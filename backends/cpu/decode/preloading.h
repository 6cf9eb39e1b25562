// preloading.h - whether a program takes a preloaded library.
//
//   ObstacleToPreloading("/usr/bin/sudo")        // "is set-uid"
//   ObstacleToPreloading("/bin/busybox-static")  // "is statically linked"
//   ObstacleToPreloading("/bin/ls")              // ""
//
// A script is as its interpreter is. Reads what files say of themselves; where
// they say nothing (a file that is not there, or may not be read) nothing is
// known to be in the way.
#ifndef KYMO_BACKENDS_CPU_DECODE_PRELOADING_H_
#define KYMO_BACKENDS_CPU_DECODE_PRELOADING_H_

#include <string>

namespace kymo::cpu {

// Why the loader will not load what LD_PRELOAD names into the program at `path`
// when this user runs it, to follow "it"; empty if it will.
std::string ObstacleToPreloading(const std::string& path);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_DECODE_PRELOADING_H_
