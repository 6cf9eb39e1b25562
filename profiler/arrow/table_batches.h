// table_batches.h - a table of a trace as batches of Arrow.
//
//   const auto tables = std::make_shared<const tables::TraceTables>(trace);
//   auto batches = std::make_unique<TableBatches>(
//       tables, *tables::FindTable("events"), TableBatches::AllColumns(table));
//   ExportStream(std::move(batches), &stream);
//
// Types are those of docs/query.md and of Parquet; texts are valid UTF-8, with
// U+FFFD for other bytes. A batch has 65,536 rows, or fewer if texts are long,
// and only one is made at a time.
//
// Errors:  kResourceExhausted: a text has more than 1 GiB.
// Ownership: the tables, and whatever their pointer owns, last as long as this.
// Cost: some ns for each value; the columns of a batch are made in parallel.
#ifndef KYMO_PROFILER_ARROW_TABLE_BATCHES_H_
#define KYMO_PROFILER_ARROW_TABLE_BATCHES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/arrow/batch.h"
#include "profiler/arrow/stream.h"
#include "profiler/tables/table.h"
#include "profiler/tables/trace_tables.h"

namespace kymo::arrow {

class TextColumn;

class TableBatches final : public BatchSource {
 public:
  // `columns` are some of the table's, at least one.
  TableBatches(std::shared_ptr<const tables::TraceTables> tables,
               const tables::Table& table,
               std::vector<const tables::Column*> columns);
  ~TableBatches() override;

  static std::vector<const tables::Column*> AllColumns(
      const tables::Table& table);

  const TableSchema& schema() const override { return schema_; }
  absl::StatusOr<std::shared_ptr<const Batch>> Next() override;

 private:
  void MakeDerivedColumns() const;

  const std::shared_ptr<const tables::TraceTables> tables_;
  const std::vector<const tables::Column*> columns_;
  const size_t rows_;
  TableSchema schema_;
  // By column; null: it has no texts.
  std::vector<std::unique_ptr<TextColumn>> texts_;
  size_t at_ = 0;
};

}  // namespace kymo::arrow

#endif  // KYMO_PROFILER_ARROW_TABLE_BATCHES_H_
