// format.h - the parts of Parquet's format that Kymo writes and reads.
//
//   const FileSchema schema = {
//       .columns = {{.name = "ts", .type = Type::kInt64},
//                   {.name = "name", .type = Type::kText}},
//       .metadata = {{"kymo.schema_version", "1"}}};
//
// Columns are flat: no lists and no structs, which some readers of Parquet do
// not have. Each column of a row group has at most two pages: a dictionary, if
// it is text, and the values. docs/decisions/0009-a-parquet-writer.md says why
// this is ours.
//
// Threads: values.
#ifndef KYMO_PROFILER_PARQUET_FORMAT_H_
#define KYMO_PROFILER_PARQUET_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kymo::parquet {

// What stands at the beginning and at the end of each file.
inline constexpr std::string_view kMagic = "PAR1";

enum class Type : uint8_t {
  kBool,
  kInt64,   // DELTA_BINARY_PACKED
  kDouble,  // PLAIN
  kText,    // UTF-8, RLE_DICTIONARY
};

struct Column {
  std::string name;
  Type type = Type::kInt64;
  bool is_nullable = false;

  friend bool operator==(const Column&, const Column&) = default;
};

struct FileSchema {
  std::vector<Column> columns;
  // Keys and values of the whole file.
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string created_by;  // "kymo version 0.1.0", as other writers say it
};

// The values of one column of a row group. The member of the column's type has
// an entry for each row; that of a row without a value does not matter.
struct Values {
  std::span<const uint8_t> is_present;  // 1 or 0; empty: all have a value
  std::span<const uint8_t> bools;       // 1 or 0
  std::span<const int64_t> ints;
  std::span<const double> doubles;
  std::span<const uint32_t> text;  // indices into `dictionary`
  std::span<const std::string_view> dictionary;
};

// The numbers of parquet.thrift.
enum class PhysicalType : int32_t {
  kBoolean = 0,
  kInt64 = 2,
  kDouble = 5,
  kByteArray = 6,
};
enum class Encoding : int32_t {
  kPlain = 0,
  kRle = 3,
  kDelta = 5,
  kRleDictionary = 8,
};
enum class Codec : int32_t { kNone = 0, kZstd = 6 };
enum class PageType : int32_t { kData = 0, kDictionary = 2 };

constexpr PhysicalType PhysicalTypeOf(Type type) {
  switch (type) {
    case Type::kBool:
      return PhysicalType::kBoolean;
    case Type::kInt64:
      return PhysicalType::kInt64;
    case Type::kDouble:
      return PhysicalType::kDouble;
    case Type::kText:
      break;
  }
  return PhysicalType::kByteArray;
}

constexpr Encoding EncodingOf(Type type) {
  switch (type) {
    case Type::kBool:
    case Type::kDouble:
      return Encoding::kPlain;
    case Type::kInt64:
      return Encoding::kDelta;
    case Type::kText:
      break;
  }
  return Encoding::kRleDictionary;
}

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_FORMAT_H_
