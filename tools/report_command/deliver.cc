#include "tools/report_command/deliver.h"

#include <limits.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/report/sample_table.h"
#include "profiler/text/json_writer.h"
#include "profiler/text/visible_text.h"
#include "tools/deliver/export_files.h"
#include "tools/report_command/analyses.h"
#include "tools/report_command/diff.h"

namespace kymo::tools {
namespace {

report::TableOptions TableFor(const TraceRows& rows,
                              const ReportCommand& command) {
  report::TableOptions table = OptionsFor(rows, command.table);
  if (table.sort_by == "auto") {
    table.sort_by = rows.use_device.empty() ? "self_cpu_time_total"
                                            : "self_device_time_total";
  }
  return table;
}

void AppendSection(const std::string& section, std::string& text) {
  if (!text.empty() && !section.empty()) text += '\n';
  text += section;
}

// Names of events are whatever a program called them. None may break a row.
void MakeVisible(TraceRows& rows) {
  for (report::TableRow& row : rows.rows) {
    row.key = VisibleText(row.key);
    row.overload_name = VisibleText(row.overload_name);
    row.input_shapes = VisibleText(row.input_shapes);
    for (std::string& frame : row.stack) frame = VisibleText(frame);
  }
}

report::SampleTable VisibleSamples(const model::Trace& trace) {
  report::SampleTable table = report::MakeSampleTable(trace);
  for (report::SampleTableRow& row : table.rows) {
    row.name = VisibleText(row.name);
    row.module = VisibleText(row.module);
  }
  return table;
}

absl::StatusOr<std::string> PlainTables(const model::Trace& trace,
                                        const TraceRows& rows,
                                        const ReportCommand& command) {
  const report::TableOptions table = TableFor(rows, command);
  KYMO_ASSIGN_OR_RETURN(std::string text,
                        report::FormatTable(rows.rows, table));
  for (const std::string& note : rows.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  if (command.filter.empty()) {
    report::SampleTableOptions samples;
    samples.sort_by = report::SampleSortKey(table.sort_by);
    samples.row_limit = table.row_limit;
    samples.max_name_column_width = table.max_name_column_width;
    samples.time_unit = table.time_unit;
    KYMO_ASSIGN_OR_RETURN(
        const std::string sampled,
        report::FormatSampleTable(VisibleSamples(trace), samples));
    AppendSection(sampled, text);
  }
  if (text.empty()) text = "No events.\n";
  return text;
}

// The trace as the filter leaves it; `chosen` keeps it.
absl::StatusOr<const model::Trace*> Choose(
    const model::Trace& trace, const EventFilter& filter,
    std::optional<model::Trace>& chosen) {
  if (filter.empty()) return &trace;
  KYMO_ASSIGN_OR_RETURN(chosen, ChosenTrace(trace, filter));
  return &*chosen;
}

absl::StatusOr<std::string> AnalysesOf(const model::Trace& trace,
                                       const ReportCommand& command) {
  std::optional<model::Trace> chosen;
  KYMO_ASSIGN_OR_RETURN(const model::Trace* const analysed,
                        Choose(trace, command.filter, chosen));
  report::ValueTableOptions options;
  options.row_limit = command.table.row_limit;
  options.max_text_width =
      command.table.max_name_column_width.value_or(INT_MAX);
  options.time_unit = command.table.time_unit;
  return AnalysesText(*analysed, command.analyses, command.format, options);
}

std::string JsonTables(const LoadedTrace& loaded, const DataTable& rows) {
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  json.Key("files");
  json.BeginArray();
  for (const LoadedFile& file : loaded.files) {
    json.BeginObject();
    json.Member("path", file.path);
    json.Member("importer", file.importer);
    json.EndObject();
  }
  json.EndArray();
  json.Key("rows");
  rows.WriteJson(json);
  json.Key("ledger");
  json.BeginObject();
  for (int i = 0; i < static_cast<int>(model::Loss::kCount); ++i) {
    const auto loss = static_cast<model::Loss>(i);
    const uint64_t count = loaded.trace.ledger().Get(loss);
    if (count == 0) continue;
    json.Key(model::LossName(loss));
    json.Uint(count);
  }
  json.EndObject();
  json.EndObject();
  return text + "\n";
}

}  // namespace

absl::StatusOr<std::string> TablesText(const LoadedTrace& loaded,
                                       const ReportCommand& command) {
  if (!command.analyses.empty()) return AnalysesOf(loaded.trace, command);
  KYMO_ASSIGN_OR_RETURN(TraceRows rows,
                        RowsOf(loaded.trace, command.rows, command.filter));
  if (command.format == TextFormat::kText) {
    MakeVisible(rows);
    return PlainTables(loaded.trace, rows, command);
  }
  KYMO_ASSIGN_OR_RETURN(const DataTable data,
                        RowData(rows, TableFor(rows, command)));
  return command.format == TextFormat::kCsv ? data.Csv()
                                            : JsonTables(loaded, data);
}

absl::StatusOr<std::string> DiffText(const model::Trace& before,
                                     const model::Trace& after,
                                     const ReportCommand& command) {
  KYMO_ASSIGN_OR_RETURN(TraceRows rows_before,
                        RowsOf(before, command.rows, command.filter));
  KYMO_ASSIGN_OR_RETURN(TraceRows rows_after,
                        RowsOf(after, command.rows, command.filter));
  if (command.format == TextFormat::kText) {
    MakeVisible(rows_before);
    MakeVisible(rows_after);
  }
  const std::string metric =
      command.table.sort_by == "auto" ? "" : command.table.sort_by;
  KYMO_ASSIGN_OR_RETURN(const RowDiff diff,
                        DiffRows(rows_before.rows, rows_after.rows, metric));
  return diff.Text(command.format, command.table);
}

namespace {

ExportRequest RequestOf(const ReportCommand& command) {
  return {.exporters = command.exporters,
          .gzip = command.gzip,
          .max_file_bytes = command.max_file_bytes,
          .settings = command.settings};
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExportTrace(
    const model::Trace& trace, const ReportCommand& command,
    const ExporterRegistry& exporters, OutputDirectory& out) {
  std::optional<model::Trace> chosen;
  KYMO_ASSIGN_OR_RETURN(const model::Trace* const exported,
                        Choose(trace, command.filter, chosen));
  std::vector<std::string> notices;
  KYMO_RETURN_IF_ERROR(
      ExportFiles(RequestOf(command), *exported, exporters, out, notices));
  return notices;
}

absl::Status ExportSums(const analysis::WindowSums& sums,
                        const ReportCommand& command,
                        const ExporterRegistry& exporters,
                        OutputDirectory& out) {
  return ExportFilesOfSums(RequestOf(command), sums, exporters, out);
}

}  // namespace kymo::tools
