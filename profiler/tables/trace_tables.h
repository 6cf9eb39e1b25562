// trace_tables.h - the values of a trace's tables, by rows or by columns.
//
//   const kymo::tables::TraceTables tables(trace);
//   const kymo::tables::Table& events = *kymo::tables::FindTable("events");
//   const kymo::tables::Column& name = *events.FindColumn("name");
//   const kymo::tables::Column& step = *events.FindColumn("step");
//
//   std::vector<kymo::tables::TextId> names(1000);
//   std::vector<int64_t> steps(1000);
//   std::vector<uint8_t> valid(1000);      // 0: the step is NULL
//   tables.Texts(name, 0, 1000, names.data());
//   tables.Int64s(step, 0, 1000, steps.data(), valid.data());
//   Print(tables.Text(names[0]));
//
// Nothing of the trace is copied: values are computed from its columns when
// they are read. A few columns (self_ns, depth, step, memory, waits) and tables
// (args, device_work, allocations_by_stack) need a pass over the trace, which
// the first reader of such a column pays for.
//
// Texts are ids below text_count(), so that a dictionary is an array. One text
// may have several ids.
//
// Threads: any number may read.
// Ownership: the trace must outlive this; texts live as long as this.
// Cost: an indirect call, and for each row what its value takes. Read many rows
//   with one call.
#ifndef KYMO_PROFILER_TABLES_TRACE_TABLES_H_
#define KYMO_PROFILER_TABLES_TRACE_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "profiler/model/trace.h"
#include "profiler/tables/table.h"

namespace kymo::tables {

class TraceTables {
 public:
  explicit TraceTables(const model::Trace& trace);
  TraceTables(TraceTables&&) noexcept;
  TraceTables& operator=(TraceTables&&) noexcept;
  ~TraceTables();

  const model::Trace& trace() const;

  size_t RowCount(const Table& table) const {
    return table.row_count(*source_);
  }

  // The values of rows [begin, end) of the column's table. A row that is NULL
  // has 0 in `out` and in `valid`; other rows have 1 in `valid`.
  // REQUIRES: end <= RowCount; the type of the column.
  void Int64s(const Column& column, size_t begin, size_t end, int64_t* out,
              uint8_t* valid) const {
    column.ints(*source_, begin, end, out, valid);
  }
  void Doubles(const Column& column, size_t begin, size_t end, double* out,
               uint8_t* valid) const {
    column.doubles(*source_, begin, end, out, valid);
  }
  // A row that is NULL has kNoText.
  void Texts(const Column& column, size_t begin, size_t end,
             TextId* out) const {
    column.texts(*source_, begin, end, out);
  }

  // The same for rows in any order. One call for many rows waits for many
  // places of memory at once.
  void Int64sAt(const Column& column, std::span<const uint32_t> rows,
                int64_t* out, uint8_t* valid) const {
    column.ints_at(*source_, rows, out, valid);
  }
  void DoublesAt(const Column& column, std::span<const uint32_t> rows,
                 double* out, uint8_t* valid) const {
    column.doubles_at(*source_, rows, out, valid);
  }
  void TextsAt(const Column& column, std::span<const uint32_t> rows,
               TextId* out) const {
    column.texts_at(*source_, rows, out);
  }

  // True: every row of the column is NULL, so nobody needs to read it. False
  // tells nothing.
  bool IsEmpty(const Column& column) const {
    return column.is_empty != nullptr && column.is_empty(*source_);
  }

  // REQUIRES: an id from Texts. Bytes of the program: they may be anything.
  std::string_view Text(TextId id) const;
  // More than every id.
  size_t text_count() const;

  // For code that knows how a table is made.
  const Source& source() const { return *source_; }

 private:
  std::unique_ptr<const Source> source_;
};

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_TRACE_TABLES_H_
