// time.h - the one unit of time outside the recorder.
//
// Everywhere after collection a point in time is an int64 count of nanoseconds
// since the Unix epoch and a length of time an int64 count of nanoseconds.
// Division and rounding happen only where text is made.
#ifndef KYMO_PROFILER_BASE_TIME_H_
#define KYMO_PROFILER_BASE_TIME_H_

#include <cstdint>

namespace kymo {

// A point in time, ns since 1970-01-01T00:00:00Z, or a length, ns.
using TimeNs = int64_t;
using DurationNs = int64_t;

inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_TIME_H_
