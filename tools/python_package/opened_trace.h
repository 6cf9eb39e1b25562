// opened_trace.h - a trace that Python has opened.
//
//   KYMO_ASSIGN_OR_RETURN(
//       const std::shared_ptr<OpenedTrace> trace,
//       OpenedTrace::Open({"--step=3"}, {"out"}, [] { return false; }));
//   KYMO_ASSIGN_OR_RETURN(std::unique_ptr<arrow::BatchSource> events,
//                         trace->Table("events", {}));
//
// Flags are those of `kymo report`, with the same meaning, defaults and errors.
//
// Errors:  the sentences of `kymo report`. kCancelled: `must_stop` said so.
// Threads: one at a time; sources that it has given out are read by any.
// Ownership: sources keep the trace.
#ifndef KYMO_TOOLS_PYTHON_PACKAGE_OPENED_TRACE_H_
#define KYMO_TOOLS_PYTHON_PACKAGE_OPENED_TRACE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "importers/load/load.h"
#include "profiler/arrow/row_store.h"
#include "profiler/arrow/stream.h"
#include "profiler/model/trace.h"
#include "profiler/query/query.h"
#include "profiler/tables/trace_tables.h"
#include "tools/report_command/options.h"

namespace kymo::python {

// Asked now and then; true ends what is going on.
using MustStop = std::function<bool()>;

class OpenedTrace : public std::enable_shared_from_this<OpenedTrace> {
 public:
  static absl::StatusOr<std::shared_ptr<OpenedTrace>> Open(
      std::vector<std::string> flags, std::vector<std::string> paths,
      const MustStop& must_stop);
  OpenedTrace(const OpenedTrace&) = delete;
  OpenedTrace& operator=(const OpenedTrace&) = delete;

  // What is wrong with the files, a line each.
  std::string Findings() const;

  // REQUIRES: the name of a table.
  int64_t RowCount(std::string_view table) const;

  // No columns: all.
  absl::StatusOr<std::unique_ptr<arrow::BatchSource>> Table(
      std::string_view table, const std::vector<std::string>& columns) const;

  absl::StatusOr<std::shared_ptr<const arrow::StoredRows>> Sql(
      std::string_view sql, const MustStop& must_stop);

  // The rows that `kymo report --format=json` has, with these flags besides
  // those of Open.
  absl::StatusOr<std::shared_ptr<const arrow::StoredRows>> Averages(
      const std::vector<std::string>& flags) const;
  // What `kymo report` prints.
  absl::StatusOr<std::string> Report(
      const std::vector<std::string>& flags) const;

 private:
  OpenedTrace(std::vector<std::string> flags, std::vector<std::string> paths,
              tools::ReportCommand command, LoadedTrace loaded,
              std::optional<model::Trace> chosen);

  absl::StatusOr<tools::ReportCommand> CommandWith(
      const std::vector<std::string>& flags) const;
  const model::Trace& trace() const {
    return chosen_ ? *chosen_ : loaded_.trace;
  }

  const std::vector<std::string> flags_;
  const std::vector<std::string> paths_;
  const tools::ReportCommand command_;
  const LoadedTrace loaded_;
  const std::optional<model::Trace> chosen_;  // what a filter leaves
  const tables::TraceTables tables_;
  std::optional<TraceQueries> queries_;  // made when it is first needed
  MustStop must_stop_;                   // of the query that runs
};

}  // namespace kymo::python

#endif  // KYMO_TOOLS_PYTHON_PACKAGE_OPENED_TRACE_H_
