// time.h - the units of time: nanoseconds in 64-bit integers.
//
//   const kymo::TimeNs start_ns = 1'700'000'000 * kymo::kNsPerSecond;
//   const kymo::DurationNs length_ns = 3 * kymo::kNsPerMs;
//   Print(start_ns + length_ns);
//
// Everything after collection uses these units. Division and rounding happen
// only where text is made.
#ifndef KYMO_PROFILER_BASE_TIME_H_
#define KYMO_PROFILER_BASE_TIME_H_

#include <cstdint>

namespace kymo {

// A point in time: nanoseconds since 1970-01-01T00:00:00Z, without leap
// seconds.
using TimeNs = int64_t;
// A length of time in nanoseconds.
using DurationNs = int64_t;

inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_TIME_H_
