// batch.h - rows as columns in Arrow's layout, and as its structures.
//
//   const std::vector<Field> fields = {{"id", Type::kInt64}};
//   auto batch = std::make_shared<Batch>(Batch{.rows = 2});
//   batch->columns.push_back({.ints = {1, 2}});
//   ExportSchema({fields, {}}, &schema);
//   ExportBatch(fields, batch, &array);
//
// Ownership: an exported array keeps its batch until it is released. Several
//   arrays may share a batch: nothing is copied.
// Errors: std::bad_alloc.
#ifndef KYMO_PROFILER_ARROW_BATCH_H_
#define KYMO_PROFILER_ARROW_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/arrow/c_data.h"
#include "profiler/base/column.h"

namespace kymo::arrow {

enum class Type : uint8_t {
  kNull,  // no row has a value, and no type is known
  kBool,
  kInt64,
  kDouble,
  kText,  // UTF-8
};

struct Field {
  std::string name;
  Type type = Type::kInt64;
  bool is_nullable = true;

  friend bool operator==(const Field&, const Field&) = default;
};

struct TableSchema {
  std::vector<Field> fields;
  std::vector<std::pair<std::string, std::string>> metadata;
};

// The values of a column; only the members of its type are there.
struct Values {
  size_t null_count = 0;
  Column<uint8_t> validity;  // a bit for each row; empty: all have a value
  Column<uint8_t> bits;      // of bools
  Column<int64_t> ints;
  Column<double> doubles;
  Column<int32_t> offsets;  // of texts: rows + 1
  std::string bytes;        // of texts
};

struct Batch {
  size_t rows = 0;
  std::vector<Values> columns;
};

// A bit for each of the bytes, which are 0 or 1. The lowest bit is the first.
Column<uint8_t> PackBits(std::span<const uint8_t> bytes);

// Sets the validity, if `is_valid` (0 or 1 for each row) has a 0.
void SetValidity(std::span<const uint8_t> is_valid, Values& values);

// `out` is whatever it was before.
void ExportSchema(const TableSchema& schema, Schema* out);
// REQUIRES: the batch has the columns of the fields.
void ExportBatch(std::span<const Field> fields,
                 std::shared_ptr<const Batch> batch, Array* out);

}  // namespace kymo::arrow

#endif  // KYMO_PROFILER_ARROW_BATCH_H_
