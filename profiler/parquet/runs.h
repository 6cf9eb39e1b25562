// runs.h - Parquet's encoding RLE: runs of equal numbers, and packed bits.
//
//   const int width = std::bit_width(uint32_t{largest});
//   std::string bytes;
//   AppendRuns(indices, width, bytes);
//   std::vector<uint32_t> again(indices.size());
//   const bool right = ReadRuns(bytes, width, again);
//
// Indices into dictionaries and levels of definition are so encoded.
//
// Threads: pure functions.
#ifndef KYMO_PROFILER_PARQUET_RUNS_H_
#define KYMO_PROFILER_PARQUET_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kymo::parquet {

// REQUIRES: 0 <= width <= 32, and each value has at most so many bits.
void AppendRuns(std::span<const uint32_t> values, int width, std::string& out);

// The same for `length` > 0 equal values.
void AppendRun(uint32_t value, size_t length, int width, std::string& out);

// Fills `values`. False unless the bytes hold as many of at most `width` bits.
// REQUIRES: 0 <= width <= 32.
[[nodiscard]] bool ReadRuns(std::string_view bytes, int width,
                            std::span<uint32_t> values);

// The value of `count` > 0 equal ones, if the bytes are one run of them.
// REQUIRES: 0 <= width <= 8.
std::optional<uint32_t> ReadOnlyRun(std::string_view bytes, int width,
                                    size_t count);

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_RUNS_H_
