// table_file.h - one table of a trace as a Parquet file.
//
//   TableFile file(trace, FileFacts(trace, "train", 3));
//   KYMO_RETURN_IF_ERROR(file.Write(table, *sink));   // without Commit
//
// The rows are in the table's order, in row groups of at most kGroupRows. The
// file's metadata has the versions, the job, the rank, what no table says of
// the trace, and a JSON text of the columns' meanings and units.
//
// Errors:  those of the sink.
// Threads: one call at a time; a call works in parallel.
// Memory:  some MiB for each thread. Columns of the events that need a pass
//   over the trace (self_ns, depth, step, ...) are made one after the other,
//   and then kept as encoded: about 8 bytes an event at a time, and 5 in the
//   end.
#ifndef KYMO_EXPORTERS_PARQUET_TABLE_FILE_H_
#define KYMO_EXPORTERS_PARQUET_TABLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"
#include "profiler/tables/table.h"
#include "profiler/tables/trace_tables.h"

namespace kymo::parquet {

// DuckDB and others read row groups in parallel, and skip those whose least and
// largest values do not fit a query.
inline constexpr size_t kGroupRows = size_t{1} << 17;

using Metadata = std::vector<std::pair<std::string, std::string>>;

// What all files of a trace have in common.
Metadata FileFacts(const model::Trace& trace, std::string_view job,
                   int64_t rank);

class TableFile {
 public:
  // `trace` must outlive this.
  TableFile(const model::Trace& trace, Metadata facts)
      : trace_(trace), tables_(trace), facts_(std::move(facts)) {}

  absl::Status Write(const tables::Table& table, ByteSink& sink) const;

  // The columns that a file of the table has. `ranks` has no column `rank`,
  // which readers take from the folder's name.
  static std::vector<tables::Column> ColumnsOf(const tables::Table& table);

 private:
  std::vector<size_t> GroupEnds(const std::vector<tables::Column>& columns,
                                size_t rows) const;
  size_t GroupEnd(const std::vector<tables::Column>& columns, size_t begin,
                  size_t rows) const;

  const model::Trace& trace_;
  const tables::TraceTables tables_;
  const Metadata facts_;
};

}  // namespace kymo::parquet

#endif  // KYMO_EXPORTERS_PARQUET_TABLE_FILE_H_
