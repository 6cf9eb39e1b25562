// preloading.h - whether a program takes a preloaded library.
//
//   ObstacleToPreloading("/usr/bin/sudo")        // "is set-uid"
//   ObstacleToPreloading("/bin/busybox-static")  // "is statically linked"
//   ObstacleToPreloading("/bin/ls")              // ""
//
// A script gets the answer for its interpreter. The answer comes from the
// files' contents. A file that is missing or cannot be read is no obstacle.
#ifndef KYMO_BACKENDS_STREAM_DECODE_PRELOADING_H_
#define KYMO_BACKENDS_STREAM_DECODE_PRELOADING_H_

#include <string>

namespace kymo::stream {

// Why the loader will not preload a library into the program at `path` when
// this user runs it, as words that follow "it". Empty if it will.
std::string ObstacleToPreloading(const std::string& path);

// Whether the program at `path` runs with more rights than this user. Then the
// kernel also ends sampling in it.
bool GivesMoreRights(const std::string& path);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_PRELOADING_H_
