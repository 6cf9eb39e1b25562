#include "tools/report_command/large_recording.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/trace_exporter.h"
#include "profiler/report/table.h"
#include "profiler/text/visible_text.h"
#include "tools/deliver/sum_windows.h"
#include "tools/report_command/row_source.h"

namespace kymo::tools {
namespace {

using analysis::WindowSums;

// The first flag that needs the whole trace; empty: none does.
std::string NeedsAll(const ReportCommand& command,
                     const ExporterRegistry& exporters) {
  if (command.check) return "--check";
  if (!command.analyses.empty()) return "--analysis";
  if (!command.sql.empty()) return "--sql";
  if (!command.filter.empty()) return "choosing events";
  const KeyAveragesOptions& grouping = command.rows.grouping;
  if (command.rows.single_events || grouping.group_by_overload_name ||
      grouping.group_by_input_shape || grouping.group_by_stack_n != 0 ||
      grouping.include_python_functions) {
    return "grouping by more than names";
  }
  if (command.rows.with_flops) return "--with_flops";
  if (command.format == TextFormat::kJson) return "--format=json";
  const ExportOptions options = {.settings = command.settings};
  for (const std::string& name : command.exporters) {
    std::string beyond = exporters.Find(name)->BeyondSums(options);
    if (!beyond.empty()) return beyond;
  }
  return "";
}

std::string ExportersOfSums(const ExporterRegistry& exporters) {
  std::vector<std::string> names;
  for (const TraceExporter* const exporter : exporters.List()) {
    if (exporter->info().exports_sums) names.push_back(exporter->info().name);
  }
  return absl::StrJoin(names, ",");
}

absl::Status CheckCommand(const ReportCommand& command,
                          const ExporterRegistry& exporters,
                          const LargeTrace& large) {
  const std::string needs_all = NeedsAll(command, exporters);
  if (needs_all.empty()) return absl::OkStatus();
  constexpr uint64_t kMib = uint64_t{1} << 20;
  return absl::FailedPreconditionError(absl::StrCat(
      needs_all, " needs the whole trace, which takes ",
      large.trace_bytes / kMib, " MiB of memory (", large.record_bytes / kMib,
      " MiB of records); ", large.memory_limit / kMib,
      " MiB may be used. Part by part this command can make the table by name, "
      "as text or CSV, and --export=",
      ExportersOfSums(exporters),
      ". Try a machine with more memory, a shorter recording, or ",
      large.whole_flag));
}

absl::StatusOr<std::string> TableOf(const WindowSums& sums,
                                    const ReportCommand& command) {
  TraceRows rows;
  rows.rows = report::TableRows(sums.Averages());
  const report::TableOptions table = OptionsFor(rows, command.table);
  if (command.format == TextFormat::kText) {
    for (report::TableRow& row : rows.rows) row.key = VisibleText(row.key);
    return report::FormatTable(rows.rows, table);
  }
  KYMO_ASSIGN_OR_RETURN(const DataTable data, RowData(rows, table));
  return data.Csv();
}

}  // namespace

absl::StatusOr<std::optional<LargeTrace>> OpenInWindows(
    const ReportCommand& command, const LoadOptions& load,
    const ImporterRegistry& importers) {
  if (command.diff || !command.append.empty() || command.files.size() != 1) {
    return std::nullopt;
  }
  return OpenLarge(command.files[0], load, importers);
}

absl::StatusOr<WindowReport> ReportInWindows(const ReportCommand& command,
                                             const ExporterRegistry& exporters,
                                             LargeTrace& large) {
  KYMO_RETURN_IF_ERROR(CheckCommand(command, exporters, large));
  KYMO_ASSIGN_OR_RETURN(SummedWindows summed, SumWindows(*large.windows));
  KYMO_ASSIGN_OR_RETURN(std::string table, TableOf(summed.sums, command));
  return WindowReport{.table = std::move(table),
                      .sums = std::move(summed.sums),
                      .notes = std::move(summed.notes)};
}

}  // namespace kymo::tools
