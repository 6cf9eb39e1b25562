#include "tools/report_command/command.h"

#include <stdio.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exporters/builtin/builtin_exporters.h"
#include "importers/builtin/builtin_importers.h"
#include "importers/load/load.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"
#include "profiler/plugin/trace_windows.h"
#include "profiler/query/query.h"
#include "profiler/query/result_writer.h"
#include "profiler/report/ledger_text.h"
#include "profiler/text/visible_text.h"
#include "tools/command_line/flag_dashes.h"
#include "tools/command_line/input_files.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/say.h"
#include "tools/command_line/shared_flags.h"
#include "tools/command_line/user_folder.h"
#include "tools/deliver/heap_records.h"
#include "tools/deliver/report_folder.h"
#include "tools/deliver/view_page.h"
#include "tools/report_command/check_report.h"
#include "tools/report_command/deliver.h"
#include "tools/report_command/event_filter.h"
#include "tools/report_command/large_recording.h"
#include "tools/report_command/options.h"
#include "tools/report_command/report_manual.h"
#include "tools/run_diff/fail_if.h"
#include "tools/run_diff/run_diff.h"
#include "tools/sql_shell/run_sql.h"
#include "tools/sql_shell/shell.h"

namespace kymo::tools {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitFound = 3;
constexpr int kExitOver = 4;

// CSV and JSON escape what their format needs escaped.
absl::Status Print(const std::string& output, TextFormat format) {
  return PrintToStandardOutput(
      format == TextFormat::kText ? VisibleLines(output) : output);
}

void PrintLedger(const model::LossLedger& ledger) {
  const std::string text = WithFlagDashes(report::LedgerText(ledger));
  fputs(VisibleLines(text).c_str(), stderr);
}

query::ResultFormat ResultFormatOf(TextFormat format) {
  switch (format) {
    case TextFormat::kText:
      return query::ResultFormat::kText;
    case TextFormat::kCsv:
      return query::ResultFormat::kCsv;
    case TextFormat::kJson:
      return query::ResultFormat::kJson;
    case TextFormat::kMarkdown:
      return query::ResultFormat::kMarkdown;
  }
  return query::ResultFormat::kText;
}

// A name that is not there: says where the names are.
absl::Status WithHint(const absl::Status& status) {
  const std::string_view message = ToStd(status.message());
  if (!message.starts_with("no such column: ") &&
      !message.starts_with("no such table: ")) {
    return status;
  }
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   "\n  .tables and .schema TABLE in the shell (--sql=-) show "
                   "what there is; docs/query.md, too"));
}

class ReportRun {
 public:
  // `inputs` are the command's files.
  ReportRun(const ReportCommand& command, const InputFiles& inputs,
            const ImporterRegistry& importers,
            const ExporterRegistry& exporters)
      : command_(command),
        inputs_(inputs),
        importers_(importers),
        exporters_(exporters) {
    load_.importer = command.importer;
    load_.import.max_unpacked_bytes = command.max_unpacked_bytes;
    load_.import.settings = command.settings;
  }

  absl::StatusOr<int> Run() {
    KYMO_ASSIGN_OR_RETURN(std::optional<LargeTrace> large,
                          OpenInWindows(command_, load_, importers_));
    if (large) return ReportLarge(*large);
    if (!command_.append.empty()) return Append();
    if (command_.check) return Check();
    if (command_.compares_runs()) return DiffOfRuns();
    if (command_.diff) return Diff();
    return Report();
  }

 private:
  absl::StatusOr<LoadedTrace> LoadAll(
      const std::vector<std::string>& files) const {
    return LoadAll(files, load_);
  }

  absl::StatusOr<LoadedTrace> LoadAll(const std::vector<std::string>& files,
                                      const LoadOptions& options) const {
    KYMO_ASSIGN_OR_RETURN(LoadedTrace loaded, Load(files, options, importers_));
    for (LoadedFile& file : loaded.files) {
      file.path = inputs_.WithNames(file.path);
    }
    return loaded;
  }

  // Sums of the heap are enough, unless something shows single allocations.
  LoadOptions ForReport() const {
    LoadOptions load = load_;
    const bool shows_sums =
        command_.sql.empty() && command_.analyses.empty() &&
        command_.filter.empty() &&
        HeapRecordsNeeded(
            command_.exporters,
            {.gzip = command_.gzip, .settings = command_.settings}, exporters_)
                .most == 0;
    if (shows_sums) load.import.settings.try_emplace("raw_fold_above", "0");
    return load;
  }

  absl::StatusOr<int> Append() {
    // Each recording is a run.
    for (const std::string& file : command_.files) {
      KYMO_ASSIGN_OR_RETURN(const LoadedTrace loaded, LoadAll({file}));
      KYMO_RETURN_IF_ERROR(AppendTrace(loaded.trace, command_));
    }
    return kExitDone;
  }

  absl::StatusOr<int> Check() {
    KYMO_ASSIGN_OR_RETURN(const LoadedTrace loaded, LoadAll(command_.files));
    const CheckReport report(loaded);
    KYMO_RETURN_IF_ERROR(Print(report.Text(command_.format), command_.format));
    return report.is_clean() ? kExitDone : kExitFound;
  }

  absl::StatusOr<int> Diff() {
    KYMO_ASSIGN_OR_RETURN(const LoadedTrace before,
                          LoadAll({command_.files[0]}));
    KYMO_ASSIGN_OR_RETURN(const LoadedTrace after,
                          LoadAll({command_.files[1]}));
    KYMO_ASSIGN_OR_RETURN(const std::string text,
                          DiffText(before.trace, after.trace, command_));
    KYMO_RETURN_IF_ERROR(Print(text, command_.format));
    return Export(after.trace, &before.trace);
  }

  absl::StatusOr<int> DiffOfRuns() {
    std::vector<RunAmounts> runs;
    // One at a time: a trace may be large, and its sums are not.
    for (const std::string& file : command_.files) {
      KYMO_ASSIGN_OR_RETURN(const LoadedTrace loaded, LoadAll({file}));
      KYMO_ASSIGN_OR_RETURN(RunAmounts amounts,
                            AmountsOfRun(loaded.trace, command_));
      runs.push_back(std::move(amounts));
    }
    const std::span<const RunAmounts> all(runs);
    const RunDiff diff = DiffRuns(all.first(command_.base_files),
                                  all.subspan(command_.base_files));
    const report::TableOptions& table = command_.table;
    KYMO_RETURN_IF_ERROR(
        Print(RunDiffText(diff, RunFormatOf(command_.format),
                          {.row_limit = table.row_limit,
                           .name_width = table.max_name_column_width,
                           .time_unit = table.time_unit}),
              command_.format));
    KYMO_ASSIGN_OR_RETURN(const std::vector<std::string> over,
                          Exceeded(command_.limits, diff));
    for (const std::string& line : over) Say(line);
    return over.empty() ? kExitDone : kExitOver;
  }

  absl::StatusOr<int> Report() {
    KYMO_ASSIGN_OR_RETURN(const LoadedTrace loaded,
                          LoadAll(command_.files, ForReport()));
    KYMO_RETURN_IF_ERROR(CheckIsOneRecording());
    if (!command_.sql.empty()) return Query(loaded);
    SayFindings(loaded);
    KYMO_ASSIGN_OR_RETURN(const std::string text, TablesText(loaded, command_));
    KYMO_RETURN_IF_ERROR(Print(text, command_.format));
    return Export(loaded.trace, nullptr);
  }

  // Files that were read as one trace have one row in the table `ranks`.
  absl::Status CheckIsOneRecording() const {
    const bool has_parquet =
        std::ranges::count(command_.exporters, "parquet") != 0;
    if (!has_parquet || command_.files.size() == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--export=parquet writes one recording, so that each keeps its rank; "
        "export the files one after the other, into one --output_dir");
  }

  // Answers with SQL, of the events that the filter chooses.
  absl::StatusOr<int> Query(const LoadedTrace& loaded) {
    std::optional<model::Trace> chosen;
    if (!command_.filter.empty()) {
      KYMO_ASSIGN_OR_RETURN(chosen, ChosenTrace(loaded.trace, command_.filter));
    }
    const model::Trace& asked = chosen ? *chosen : loaded.trace;
    KYMO_ASSIGN_OR_RETURN(TraceQueries queries,
                          TraceQueries::Open(asked, command_.sql_limits));
    const query::ResultFormat format = ResultFormatOf(command_.format);
    if (command_.sql == "-") {
      SayThatThingsLack(loaded);
      const int status = SqlShell(queries, format).Run();
      if (status != kExitDone) return status;
    } else {
      KYMO_RETURN_IF_ERROR(WithHint(
          SqlRun(queries, format, PrintToStandardOutput).Run(command_.sql)));
      SayThatThingsLack(loaded);
    }
    return Export(loaded.trace, nullptr);
  }

  absl::StatusOr<int> Export(const model::Trace& trace,
                             const model::Trace* before) {
    if (command_.exporters.empty()) return kExitDone;
    KYMO_ASSIGN_OR_RETURN(const std::string folder, OutputFolder());
    ReportFolder out(folder, inputs_.paths());
    KYMO_RETURN_IF_ERROR(out.CheckWritable());
    const auto notices = ExportTrace(trace, before, command_, exporters_, out);
    AddToList(out.path(), out.opened());
    if (!notices.ok()) return notices.status();
    ShowFiles(*notices, out);
    return kExitDone;
  }

  absl::StatusOr<int> ReportLarge(LargeTrace& large) {
    KYMO_ASSIGN_OR_RETURN(const WindowReport report,
                          ReportInWindows(command_, exporters_, large));
    if (!command_.quiet) {
      for (const std::string& note : report.notes) Say(note);
      PrintLedger(report.sums.ledger());
    }
    KYMO_RETURN_IF_ERROR(Print(report.table, command_.format));
    if (command_.exporters.empty()) return kExitDone;
    KYMO_ASSIGN_OR_RETURN(const std::string folder, OutputFolder());
    ReportFolder out(folder, inputs_.paths());
    KYMO_RETURN_IF_ERROR(out.CheckWritable());
    const auto notices = ExportSums(report.sums, command_, exporters_, out);
    AddToList(out.path(), out.opened());
    if (!notices.ok()) return notices.status();
    ShowFiles(*notices, out);
    return kExitDone;
  }

  // With what the files lack.
  void ShowFiles(const std::vector<std::string>& notices,
                 const OutputDirectory& out) const {
    if (!command_.quiet) {
      for (const std::string& notice : notices) Say(notice);
      Say("wrote " + ShownPath(out.path()));
    }
    if (!command_.view) return;
    const std::string viewed = ViewPage(out.path() + "/" + kPageFile);
    if (!command_.quiet) Say(viewed);
  }

  absl::StatusOr<std::string> OutputFolder() const {
    if (!command_.output_dir.empty()) return UserPath(command_.output_dir);
    return MakeDatedFolder(UserPath(kDefaultFolder), FileStem());
  }

  // Shows what is wrong with the files, and what the trace lacks.
  void SayFindings(const LoadedTrace& loaded) const {
    if (command_.quiet) return;
    for (const LoadedFile& file : loaded.files) {
      for (const ImportFinding& finding : file.findings) {
        if (finding.severity == ImportFinding::Severity::kNote) continue;
        Say(absl::StrCat(file.path, ": ", finding.message,
                         finding.count > 1
                             ? absl::StrCat(" (", finding.count, " times)")
                             : "",
                         "; --check says more"));
      }
    }
    if (loaded.separate) {
      Say(absl::StrCat(loaded.files[loaded.separate->first].path, " and ",
                       loaded.files[loaded.separate->second].path,
                       " were not recorded at the same time: rows of the same "
                       "name are added up; --diff compares two runs"));
    }
    // Not on standard output, where the table is PyTorch's to the byte.
    PrintLedger(loaded.trace.ledger());
  }

  // One line, below an answer that may have one row.
  void SayThatThingsLack(const LoadedTrace& loaded) const {
    const size_t count = command_.quiet ? 0 : CountFindings(loaded);
    if (count == 0) return;
    Say(absl::StrCat(count, count == 1 ? " loss or note" : " losses or notes",
                     ": see --check"));
  }

  // "trace" of "runs/trace.json.gz".
  std::string FileStem() const {
    std::string_view name = inputs_.names()[0];
    name = name.substr(name.rfind('/') + 1);
    const std::string_view stem = name.substr(0, name.find('.'));
    return stem.empty() ? "trace" : std::string(stem);
  }

  const ReportCommand& command_;
  const InputFiles& inputs_;
  const ImporterRegistry& importers_;
  const ExporterRegistry& exporters_;
  LoadOptions load_;
};

}  // namespace

int RunReport(const std::vector<std::string>& arguments) {
  ImporterRegistry importers;
  ExporterRegistry exporters;
  absl::Status status = RegisterBuiltinImporters(importers);
  status.Update(RegisterBuiltinExporters(exporters));
  if (!status.ok()) return Fail(status, kExitFailed);
  return RunReport(arguments, importers, exporters);
}

int RunReport(const std::vector<std::string>& arguments,
              const ImporterRegistry& importers, ExporterRegistry& exporters) {
  GoWhereTheUserStood();
  absl::StatusOr<ReportCommand> command =
      ParseReport(arguments, importers, exporters);
  if (!command.ok()) return Fail(command.status(), kExitUsage);
  if (!command->quiet) {
    for (const std::string& notice : command->notices) Say(notice);
  }
  if (command->version) return Answer(kVersionLine);
  if (command->lists_queries) return Answer(ReadyQueryList());
  if (command->help || command->list) {
    const absl::StatusOr<std::string> page =
        command->help ? ReportManual(*command->help, importers, exporters)
                      : ReportList(importers, exporters);
    if (!page.ok()) return Fail(page.status(), kExitUsage);
    return Answer(*page);
  }
  if (!command->history.empty()) {
    const absl::StatusOr<std::string> text = HistoryReport(*command);
    absl::Status status = text.status();
    if (status.ok()) status = Print(*text, command->format);
    return status.ok() ? kExitDone : Fail(status, kExitFailed);
  }
  const absl::StatusOr<InputFiles> inputs = InputFiles::Open(command->files);
  if (!inputs.ok()) return Fail(inputs.status(), kExitFailed);
  command->files = inputs->paths();
  const bool is_run_each = command->diff || !command->append.empty();
  if (is_run_each && !inputs->folder_of_several().empty()) {
    Say(absl::StrCat(command->diff ? "--diff compares files"
                                   : "--append adds each file as a run",
                     ", and '", inputs->folder_of_several(),
                     "' has several traces: name one"));
    return kExitUsage;
  }
  try {
    const absl::StatusOr<int> exit_status =
        ReportRun(*command, *inputs, importers, exporters).Run();
    if (exit_status.ok()) return *exit_status;
    Say(inputs->WithNames(ToStd(exit_status.status().message())));
    return kExitFailed;
  } catch (const std::bad_alloc&) {
    Say("could not read the trace: not enough memory; try a machine with "
        "more");
    return kExitFailed;
  }
}

}  // namespace kymo::tools
