// format.h - times, bytes and shares as PyTorch's tables write them.
//
//   Print(kymo::FormatTime(1500));           // "1.500ms"
//   Print(kymo::FormatMemory(-1536));        // "-1.50 KB"
//   Print(*kymo::FormatTimeShare(1, 8));     // "12.50%"
//
// PyTorch's X_str of a time X, such as cpu_time_str, is FormatTime(X).
//
// Threads: any.
#ifndef KYMO_PROFILER_TEXT_FORMAT_H_
#define KYMO_PROFILER_TEXT_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace kymo {

// A time of `us` microseconds. `time_unit` may be "s", "ms" or "us". Otherwise
// the text has seconds from 1,000,000 us on, milliseconds from 1,000 us on, and
// else microseconds. Negative times are in microseconds.
std::string FormatTime(double us, std::string_view time_unit = "");

// A number of bytes. A KB has 1024 bytes.
std::string FormatMemory(int64_t bytes);

// The share of `us` in `total_us`. If both are 0 it is "NaN". If only the total
// is 0 it is kInvalidArgument.
absl::StatusOr<std::string> FormatTimeShare(double us, double total_us);

}  // namespace kymo

#endif  // KYMO_PROFILER_TEXT_FORMAT_H_
