// zstd.h - compress a page, and unpack one of any origin.
//
//   const std::string packed = Compress(page);
//   absl::StatusOr<std::string> again = Decompress(packed, page.size());
//
// Errors:  kDataLoss: the bytes are not zstd, or not of that size.
// Threads: any, concurrently.
#ifndef KYMO_PROFILER_PARQUET_ZSTD_H_
#define KYMO_PROFILER_PARQUET_ZSTD_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace kymo::parquet {

// Throws std::bad_alloc.
std::string Compress(std::string_view bytes);

// Takes memory as it fills, not because `size` says so.
absl::StatusOr<std::string> Decompress(std::string_view packed, size_t size);

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_ZSTD_H_
