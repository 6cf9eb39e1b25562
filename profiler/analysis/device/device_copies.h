// device_copies.h - copies and sets by direction, with bytes and bandwidth.
//
//   for (const CopySum& sum : CopySums(trace)) {
//     sum.direction;             // "Memcpy HtoD", "Memset"
//     sum.bytes_per_second();
//   }
//
// The direction is the name up to a parenthesis, which holds the kinds of
// memory. The bytes are the argument `bytes`. If a record has no bytes but a
// bandwidth, they are the bandwidth times the duration. A copy without either
// counts in `unknown_count`, and its time is no part of the bandwidth.
//
// Cost: linear.
#ifndef KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_COPIES_H_
#define KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_COPIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct CopySum {
  std::string direction;
  int64_t count = 0;
  int64_t unknown_count = 0;  // those without bytes
  int64_t bytes = 0;
  DurationNs total_ns = 0;
  DurationNs known_ns = 0;          // of the copies with bytes
  double min_bytes_per_second = 0;  // of the slowest that took time
  double max_bytes_per_second = 0;

  double bytes_per_second() const {
    return known_ns == 0 ? 0
                         : static_cast<double>(bytes) * kNsPerSecond /
                               static_cast<double>(known_ns);
  }
};

// By direction.
std::vector<CopySum> CopySums(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_COPIES_H_
