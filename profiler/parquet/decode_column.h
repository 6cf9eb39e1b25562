// decode_column.h - the values in the pages of one column of a row group.
//
//   ColumnData data;
//   KYMO_RETURN_IF_ERROR(DecodeColumn(bytes, {.name = "ts"}, codec, rows,
//                                     Checksums::kVerify, data));
//   data.ints[0]
//
// Pages are untrusted. Memory is taken for `rows` values and for texts that
// were read.
//
// Errors:  kInvalidArgument: damaged, or not as EncodeColumn makes them.
// Threads: any, concurrently.
#ifndef KYMO_PROFILER_PARQUET_DECODE_COLUMN_H_
#define KYMO_PROFILER_PARQUET_DECODE_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "profiler/parquet/format.h"

namespace kymo::parquet {

enum class Checksums { kVerify, kIgnore };  // kIgnore: for tests

// Owns the values of a column of a row group; see Values.
struct ColumnData {
  std::vector<uint8_t> is_present;  // empty: each row has a value
  std::vector<uint8_t> bools;
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  std::vector<uint32_t> text;  // an index also where there is no value, if any
  std::vector<std::string_view> dictionary;
  std::unique_ptr<const std::string> texts;  // those of `dictionary`
  std::string stored;                        // memory for the file's bytes

  bool Has(size_t row) const {
    return is_present.empty() || is_present[row] != 0;
  }
};

// `data` may have values of before, whose memory is used again.
absl::Status DecodeColumn(std::string_view bytes, const Column& column,
                          Codec codec, size_t rows, Checksums checksums,
                          ColumnData& data);

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_DECODE_COLUMN_H_
