// encode_column.h - the pages of one column of a row group, as bytes.
//
//   const EncodedColumn encoded =
//       EncodeColumn({.name = "ts"}, rows, {.ints = times});
//
// A page is compressed only where that saves something. Each has a checksum.
//
// Threads: any, concurrently; columns are encoded in parallel. Errors: throws
// std::bad_alloc.
#ifndef KYMO_PROFILER_PARQUET_ENCODE_COLUMN_H_
#define KYMO_PROFILER_PARQUET_ENCODE_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "profiler/parquet/format.h"

namespace kymo::parquet {

// As readers compare them: little-endian numbers, texts byte by byte.
struct Statistics {
  int64_t null_count = 0;
  // Neither: there is no value, one that has no order (NaN), or a long text.
  std::optional<std::string> least;
  std::optional<std::string> most;
};

struct EncodedColumn {
  std::string bytes;  // the dictionary's page, if any, then that of the values
  size_t dictionary_bytes = 0;  // of `bytes`
  size_t unpacked_bytes = 0;    // with the pages' headers
  Codec codec = Codec::kNone;
  Statistics statistics;
};

// REQUIRES: `values` fit the column and have `rows` entries; `rows` > 0.
EncodedColumn EncodeColumn(const Column& column, size_t rows,
                           const Values& values);

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_ENCODE_COLUMN_H_
