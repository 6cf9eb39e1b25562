// format.h - times, bytes and shares as PyTorch's tables write them.
//
//   FormatTime(1500)          // "1.500ms"
//   FormatMemory(-1536)       // "-1.50 KB"
//   FormatTimeShare(1, 8)     // "12.50%"
//
// PyTorch's X_str of a time X (cpu_time_str and so on) is FormatTime(X).
#ifndef KYMO_PROFILER_TEXT_FORMAT_H_
#define KYMO_PROFILER_TEXT_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace kymo {

// Microseconds. `time_unit` "s", "ms" or "us" forces the unit; else, seconds
// from 1,000,000 us and milliseconds from 1,000 us on. Negative: always us.
std::string FormatTime(double us, std::string_view time_unit = "");

// Bytes, with 1024 to the KB.
std::string FormatMemory(int64_t bytes);

// Of a total of 0: "NaN", or kInvalidArgument if `us` is not 0 too.
absl::StatusOr<std::string> FormatTimeShare(double us, double total_us);

}  // namespace kymo

#endif  // KYMO_PROFILER_TEXT_FORMAT_H_
