#include "tools/report_command/deliver.h"

#include <limits.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/recorded_by.h"
#include "profiler/report/memory_report.h"
#include "profiler/report/sample_table.h"
#include "profiler/report/thread_tables.h"
#include "profiler/report/wait_tables.h"
#include "profiler/text/json_writer.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"
#include "tools/deliver/export_files.h"
#include "tools/report_command/analyses.h"
#include "tools/report_command/diff.h"
#include "tools/report_command/sample_rows.h"
#include "tools/run_diff/steady_times.h"

namespace kymo::tools {
namespace {

void AppendSection(const std::string& section, std::string& text) {
  if (!text.empty() && !section.empty()) text += '\n';
  text += section;
}

void MakeVisible(TraceRows& rows) {
  for (report::TableRow& row : rows.rows) report::MakeVisible(row);
}

void MakeVisible(report::SampleTable& table) {
  for (report::SampleTableRow& row : table.rows) report::MakeVisible(row);
}

// The memory of the heap and of mappings, as //tools:profile shows it. PyTorch
// has no such text, and its traces show what PyTorch shows.
std::string MemoryText(const model::Trace& trace,
                       const ReportCommand& command) {
  if (!command.filter.empty() || model::IsOfPyTorch(trace)) return "";
  return report::MemoryReport(trace, analysis::ProfileMemory(trace), {});
}

absl::StatusOr<std::string> PlainTables(const model::Trace& trace,
                                        const TraceRows& rows,
                                        const report::SampleTable& samples,
                                        const ReportCommand& command) {
  const report::TableOptions table = OptionsFor(rows, command.table);
  KYMO_ASSIGN_OR_RETURN(std::string text,
                        report::FormatTable(rows.rows, table));
  for (const std::string& note : rows.notes) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  KYMO_ASSIGN_OR_RETURN(
      const std::string sampled,
      report::FormatSampleTable(samples, SampleOptions(table)));
  AppendSection(sampled, text);
  // Filters choose events, and times of threads are sums.
  if (command.filter.empty()) {
    AppendSection(report::ProgramsText(trace, table.row_limit), text);
    AppendSection(report::ThreadsText(trace, table.row_limit), text);
    AppendSection(report::WaitsText(trace, table.row_limit), text);
  }
  AppendSection(MemoryText(trace, command), text);
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

std::string JsonTables(const LoadedTrace& loaded, const DataTable& rows,
                       const DataTable& functions) {
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
  json.Key("sampled_functions");
  functions.WriteJson(json);
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

// A comparison of a kind of rows, below that of ranges.
struct DiffSection {
  const char* title;
  const char* json_key;
  RowDiff diff;
};

// The comparison of ranges, and the others. As CSV, which is one table, only
// the first that is not empty.
std::string DiffsText(const RowDiff& ranges,
                      const std::vector<DiffSection>& sections,
                      const ReportCommand& command) {
  if (command.format == TextFormat::kJson) {
    std::string text;
    json::JsonWriter json(text);
    json.BeginObject();
    ranges.WriteMembers(command.table, json);
    for (const DiffSection& section : sections) {
      json.Key(section.json_key);
      json.BeginObject();
      section.diff.WriteMembers(command.table, json);
      json.EndObject();
    }
    json.EndObject();
    return text + "\n";
  }
  std::string text;
  if (!ranges.rows().empty() || sections.empty()) {
    text = ranges.Text(command.format, command.table);
  }
  for (const DiffSection& section : sections) {
    if (command.format == TextFormat::kCsv) {
      if (!text.empty()) break;
    } else if (!text.empty() || sections.size() > 1) {
      absl::StrAppend(&text, text.empty() ? "" : "\n", section.title, "\n");
    }
    text += section.diff.Text(command.format, command.table);
  }
  return text;
}

// Waits are not filtered: no rows then.
std::vector<report::TableRow> ComparedWaits(const model::Trace& trace,
                                            std::string_view main_module,
                                            const ReportCommand& command) {
  if (!command.filter.empty()) return {};
  std::vector<report::TableRow> rows = WaitRowsOf(trace, main_module);
  if (command.format != TextFormat::kText) return rows;
  for (report::TableRow& row : rows) row.key = VisibleText(row.key);
  return rows;
}

// A part of a recording says nothing of how long that took.
std::string LengthsText(const model::Trace& before, const model::Trace& after,
                        const ReportCommand& command) {
  if (command.format != TextFormat::kText || !command.filter.empty()) return "";
  const auto time = [&](const model::Trace& trace) {
    const DurationNs ns = trace.end_ns() - trace.start_ns();
    return report::FormatTime(static_cast<double>(ns) / kNsPerUs,
                              command.table.time_unit);
  };
  return absl::StrCat("Wall time of the recordings: ", time(before), " -> ",
                      time(after), "\n\n");
}

}  // namespace

absl::StatusOr<std::string> TablesText(const LoadedTrace& loaded,
                                       const ReportCommand& command) {
  if (!command.analyses.empty()) return AnalysesOf(loaded.trace, command);
  KYMO_ASSIGN_OR_RETURN(TraceRows rows,
                        RowsOf(loaded.trace, command.rows, command.filter));
  KYMO_ASSIGN_OR_RETURN(report::SampleTable samples,
                        ChosenSamples(loaded.trace, command.filter));
  if (command.format == TextFormat::kText) {
    return PlainTables(loaded.trace, rows, samples, command);
  }
  const report::TableOptions table = OptionsFor(rows, command.table);
  KYMO_ASSIGN_OR_RETURN(const DataTable data, RowData(rows, table));
  KYMO_ASSIGN_OR_RETURN(const DataTable functions,
                        SampleData(samples, SampleOptions(table)));
  if (command.format == TextFormat::kJson) {
    return JsonTables(loaded, data, functions);
  }
  // CSV is one table.
  const bool has_only_samples = rows.rows.empty() && !samples.rows.empty();
  return has_only_samples ? functions.Csv() : data.Csv();
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
  KYMO_ASSIGN_OR_RETURN(report::SampleTable samples_before,
                        ChosenSamples(before, command.filter));
  KYMO_ASSIGN_OR_RETURN(report::SampleTable samples_after,
                        ChosenSamples(after, command.filter));
  if (command.format == TextFormat::kText) {
    MakeVisible(samples_before);
    MakeVisible(samples_after);
  }
  // Samples have no time of a device, and none of waits.
  const std::string main_before = MainModule(before, samples_before);
  const std::string main_after = MainModule(after, samples_after);
  const std::string& main = main_after.empty() ? main_before : main_after;
  const std::string shown = main.substr(main.rfind('/') + 1);
  const std::string of_functions =
      metric == "cpu_time_total" ? metric : "self_cpu_time_total";
  const std::vector<report::TableRow> functions_before =
      DiffRowsOf(samples_before, of_functions, main_before, shown);
  const std::vector<report::TableRow> functions_after =
      DiffRowsOf(samples_after, of_functions, main_after, shown);
  std::vector<DiffSection> sections;
  if (!functions_before.empty() || !functions_after.empty()) {
    KYMO_ASSIGN_OR_RETURN(RowDiff functions,
                          DiffRows(functions_before, functions_after,
                                   of_functions, DiffOf::kSampledFunctions));
    sections.push_back(
        {"Sampled functions", "sampled_functions", std::move(functions)});
  }
  // If one is not known, the rows of the two programs would be different ones.
  const bool knows_mains = !main_before.empty() && !main_after.empty();
  const std::vector<report::TableRow> waits_before =
      ComparedWaits(before, knows_mains ? main_before : "", command);
  const std::vector<report::TableRow> waits_after =
      ComparedWaits(after, knows_mains ? main_after : "", command);
  if (!waits_before.empty() || !waits_after.empty()) {
    KYMO_ASSIGN_OR_RETURN(
        RowDiff waits, DiffRows(waits_before, waits_after, report::kWaitSortKey,
                                DiffOf::kWaits));
    sections.push_back({"Where it waited", "waits", std::move(waits)});
  }
  return absl::StrCat(LengthsText(before, after, command),
                      DiffsText(diff, sections, command));
}

RunFormat RunFormatOf(TextFormat format) {
  if (format == TextFormat::kMarkdown) return RunFormat::kMarkdown;
  return format == TextFormat::kJson ? RunFormat::kJson : RunFormat::kText;
}

absl::StatusOr<RunAmounts> AmountsOfRun(const model::Trace& trace,
                                        const ReportCommand& command) {
  RunAmounts amounts;
  KYMO_ASSIGN_OR_RETURN(const TraceRows rows,
                        RowsOf(trace, command.rows, command.filter));
  AddRanges(rows.rows, OptionsFor(rows, command.table).sort_by, amounts);
  std::vector<uint8_t> counted;
  if (!command.filter.empty()) {
    KYMO_ASSIGN_OR_RETURN(counted, ChooseEvents(trace, command.filter));
  }
  AddSteadyTimes(trace, counted, amounts);
  KYMO_ASSIGN_OR_RETURN(const report::SampleTable samples,
                        ChosenSamples(trace, command.filter));
  // A history keeps the names that its files have had from the start.
  const std::string main =
      command.diff ? MainModule(trace, samples) : std::string();
  AddFunctions(DiffRowsOf(samples, "self_cpu_time_total", main), amounts);
  amounts.sample_us =
      static_cast<double>(trace.sampling_period_ns()) / kNsPerUs;
  if (command.filter.empty()) AddHeap(trace, amounts);
  return amounts;
}

namespace {

ExportRequest RequestOf(const ReportCommand& command) {
  return {.exporters = command.exporters,
          .gzip = command.gzip,
          .max_bytes = command.max_size,
          .max_file_bytes = command.max_file_bytes,
          .settings = command.settings};
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExportTrace(
    const model::Trace& trace, const model::Trace* before,
    const ReportCommand& command, const ExporterRegistry& exporters,
    OutputDirectory& out) {
  std::optional<model::Trace> chosen;
  KYMO_ASSIGN_OR_RETURN(const model::Trace* const exported,
                        Choose(trace, command.filter, chosen));
  ExportRequest request = RequestOf(command);
  std::optional<model::Trace> chosen_before;
  if (before != nullptr) {
    KYMO_ASSIGN_OR_RETURN(request.before,
                          Choose(*before, command.filter, chosen_before));
  }
  ExportNotes notes;
  KYMO_RETURN_IF_ERROR(ExportFiles(request, *exported, exporters, out, notes));
  return notes.notices;
}

absl::StatusOr<std::vector<std::string>> ExportSums(
    const analysis::WindowSums& sums, const ReportCommand& command,
    const ExporterRegistry& exporters, OutputDirectory& out) {
  ExportNotes notes;
  KYMO_RETURN_IF_ERROR(
      ExportFilesOfSums(RequestOf(command), sums, exporters, out, notes));
  return notes.notices;
}

}  // namespace kymo::tools
