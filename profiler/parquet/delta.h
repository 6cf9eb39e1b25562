// delta.h - Parquet's encoding DELTA_BINARY_PACKED of 64-bit integers.
//
//   std::string bytes;
//   AppendDelta(times, bytes);
//   std::vector<int64_t> again(times.size());
//   const bool right = ReadDelta(bytes, again);
//
// The differences of neighbours are packed with as few bits as the largest of
// 32 needs, so rising times take a byte or two. Differences wrap around, so
// every sequence of numbers has its encoding.
//
// Threads: pure functions. Cost: 1 to 2 ns a value each way.
#ifndef KYMO_PROFILER_PARQUET_DELTA_H_
#define KYMO_PROFILER_PARQUET_DELTA_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kymo::parquet {

void AppendDelta(std::span<const int64_t> values, std::string& out);

// Fills `values`. False unless the bytes are an encoding of exactly as many.
[[nodiscard]] bool ReadDelta(std::string_view bytes, std::span<int64_t> values);

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_DELTA_H_
