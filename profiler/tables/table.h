// table.h - the tables of a trace: their names, columns, types and units.
//
//   for (const kymo::tables::Table& table : kymo::tables::AllTables()) {
//     for (const kymo::tables::Column& column : table.columns) {
//       Print(table.name, column.name, column.unit, column.meaning);
//     }
//   }
//
// SQL (docs/query.md) and Parquet have these tables, with the same names. The
// values are read through trace_tables.h.
//
// A column whose value may be unknown is nullable. Columns that end in _id hold
// the number of a row of another table; `references` names it. A table with a
// column `id` numbers its rows in it: row 7 has id 7.
//
// Versions: kSchemaVersion grows when a column or table is renamed, removed or
//   changes its meaning. Additions leave it as it is.
// Threads: constant data.
#ifndef KYMO_PROFILER_TABLES_TABLE_H_
#define KYMO_PROFILER_TABLES_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kymo::tables {

inline constexpr int kSchemaVersion = 1;

enum class ColumnType : uint8_t { kInt64, kDouble, kText, kBool };

// "int64", "double", "text", "bool".
std::string_view ColumnTypeName(ColumnType type) noexcept;

// A text of a trace; trace_tables.h has the text. Equal ids are equal texts.
enum class TextId : uint32_t {};
inline constexpr TextId kNoText{~uint32_t{0}};  // NULL

constexpr uint32_t Index(TextId id) noexcept {
  return static_cast<uint32_t>(id);
}

// What the values are made of: a trace, and what is derived from it on demand.
class Source;

struct Column {
  std::string_view name;  // lower_snake
  ColumnType type = ColumnType::kInt64;
  bool is_nullable = false;
  std::string_view unit;        // "ns", "bytes", or empty
  std::string_view references;  // "tracks.id", or empty
  std::string_view meaning;     // one sentence without a full stop

  // Through trace_tables.h. One of these is there, by type; kBool has ints.
  // Null rows have an entry 0 in `valid`, which may be null.
  void (*ints)(const Source& source, size_t begin, size_t end, int64_t* out,
               uint8_t* valid) = nullptr;
  void (*doubles)(const Source& source, size_t begin, size_t end, double* out,
                  uint8_t* valid) = nullptr;
  void (*texts)(const Source& source, size_t begin, size_t end,
                TextId* out) = nullptr;
  // The same for rows in any order.
  void (*ints_at)(const Source& source, std::span<const uint32_t> rows,
                  int64_t* out, uint8_t* valid) = nullptr;
  void (*doubles_at)(const Source& source, std::span<const uint32_t> rows,
                     double* out, uint8_t* valid) = nullptr;
  void (*texts_at)(const Source& source, std::span<const uint32_t> rows,
                   TextId* out) = nullptr;
  // True: every row is NULL. May be false although every row is. Null: unknown.
  bool (*is_empty)(const Source& source) = nullptr;

  // For declarations (define_column.h).
  constexpr Column In(std::string_view unit_name) const {
    Column column = *this;
    column.unit = unit_name;
    return column;
  }
  constexpr Column Of(std::string_view referenced) const {
    Column column = *this;
    column.references = referenced;
    return column;
  }
  constexpr Column EmptyIf(bool (*is_empty_in)(const Source& source)) const {
    Column column = *this;
    column.is_empty = is_empty_in;
    return column;
  }
};

struct Table {
  std::string_view name;     // lower_snake
  std::string_view meaning;  // what a row is, without a full stop
  std::string_view order;    // of the rows: "track, start"
  std::string_view example;  // a query
  std::span<const Column> columns;
  size_t (*row_count)(const Source& source) = nullptr;

  // Null when there is none of that name.
  const Column* FindColumn(std::string_view column) const;
};

// Events first; the order is that of docs/query.md.
std::span<const Table> AllTables();

// Null when there is none of that name.
const Table* FindTable(std::string_view name);

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_TABLE_H_
