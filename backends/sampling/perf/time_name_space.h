// time_name_space.h - how far this process's CLOCK_MONOTONIC is from the
// machine's, which the kernel's records have.
//
//   record_time + OwnClockOffsetNs()    // as clock_gettime would have said
//
// A process in a time name space (time_namespaces(7)), such as one of a
// container that was restored, has a clock of its own.
// Threads: any.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_TIME_NAME_SPACE_H_
#define KYMO_BACKENDS_SAMPLING_PERF_TIME_NAME_SPACE_H_

#include <cstdint>
#include <string_view>

namespace kymo::sampling {

// 0 in the machine's own name space. The first call reads /proc/self.
int64_t OwnClockOffsetNs() noexcept;

// Of a text like that of /proc/self/timens_offsets; 0 if it has none.
int64_t MonotonicOffsetNs(std::string_view text);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_TIME_NAME_SPACE_H_
