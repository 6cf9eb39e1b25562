#include "tools/python_package/opened_trace.h"

#include <span>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importers/builtin/builtin_importers.h"
#include "profiler/arrow/table_batches.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/registry.h"
#include "profiler/tables/table.h"
#include "profiler/text/visible_text.h"
#include "tools/command_line/input_files.h"
#include "tools/report_command/deliver.h"
#include "tools/report_command/event_filter.h"
#include "tools/report_command/large_recording.h"
#include "tools/report_command/row_source.h"

namespace kymo::python {
namespace {

using tools::ReportCommand;

// Thrown out of an importer, whose loop asks no other way.
struct Stopped {};

absl::StatusOr<const ImporterRegistry*> Importers() {
  static const auto& importers = *new absl::StatusOr<ImporterRegistry*>([] {
    auto* const registry = new ImporterRegistry();
    const absl::Status status = RegisterBuiltinImporters(*registry);
    return status.ok() ? absl::StatusOr<ImporterRegistry*>(registry) : status;
  }());
  if (!importers.ok()) return importers.status();
  return *importers;
}

// The flags that make something else than tables, or write files.
absl::Status CheckReads(const ReportCommand& command) {
  if (!command.help && !command.list && !command.version && !command.check &&
      !command.diff && command.append.empty() && command.history.empty() &&
      command.sql.empty() && !command.lists_queries &&
      command.exporters.empty() && command.format == tools::TextFormat::kText) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "Python takes the flags of `kymo report` that choose what is read and "
      "how "
      "the table looks; for others, use the command");
}

absl::StatusOr<ReportCommand> Parse(std::vector<std::string> flags,
                                    const std::vector<std::string>& paths,
                                    const ImporterRegistry& importers) {
  flags.emplace_back("--");
  flags.insert(flags.end(), paths.begin(), paths.end());
  ExporterRegistry none;
  KYMO_ASSIGN_OR_RETURN(ReportCommand command,
                        tools::ParseReport(flags, importers, none));
  KYMO_RETURN_IF_ERROR(CheckReads(command));
  command.sql_limits.is_alone = false;
  return command;
}

absl::Status CheckFitsInMemory(const ReportCommand& command,
                               const LoadOptions& load,
                               const ImporterRegistry& importers) {
  KYMO_ASSIGN_OR_RETURN(const std::optional<LargeTrace> large,
                        tools::OpenInWindows(command, load, importers));
  if (!large) return absl::OkStatus();
  constexpr uint64_t kMib = uint64_t{1} << 20;
  return absl::FailedPreconditionError(absl::StrCat(
      command.files[0], ": kymo.load needs the whole trace, which takes ",
      large->trace_bytes / kMib, " MiB of memory, and ",
      large->memory_limit / kMib,
      " MiB may be used. The command `kymo report` makes the table by name "
      "part "
      "by part. Try a machine with more memory, a shorter recording, or ",
      large->whole_flag));
}

absl::StatusOr<LoadedTrace> LoadAll(const ReportCommand& command,
                                    const ImporterRegistry& importers,
                                    const MustStop& must_stop) {
  LoadOptions load;
  load.importer = command.importer;
  load.import.max_unpacked_bytes = command.max_unpacked_bytes;
  load.import.settings = command.settings;
  load.import.progress = [&](double) {
    if (must_stop()) throw Stopped();
  };
  KYMO_RETURN_IF_ERROR(CheckFitsInMemory(command, load, importers));
  try {
    return Load(command.files, load, importers);
  } catch (const Stopped&) {
    return absl::CancelledError("reading the trace was cancelled");
  }
}

// Adds a value of a query or of a table to its column.
struct AddTo {
  arrow::ColumnStore& column;

  void operator()(std::monostate) const { column.AddNull(); }
  void operator()(const std::string& text) const {
    column.Add(std::string_view(text));
  }
  void operator()(int64_t value) const { column.Add(value); }
  void operator()(double value) const { column.Add(value); }
  void operator()(bool value) const { column.Add(value); }
  void operator()(const std::vector<std::string>& lines) const {
    column.Add(std::string_view(absl::StrJoin(lines, "\n")));
  }
};

}  // namespace

OpenedTrace::OpenedTrace(std::vector<std::string> flags,
                         std::vector<std::string> paths, ReportCommand command,
                         LoadedTrace loaded, std::optional<model::Trace> chosen)
    : flags_(std::move(flags)),
      paths_(std::move(paths)),
      command_(std::move(command)),
      loaded_(std::move(loaded)),
      chosen_(std::move(chosen)),
      tables_(trace()) {}

absl::StatusOr<std::shared_ptr<OpenedTrace>> OpenedTrace::Open(
    std::vector<std::string> flags, std::vector<std::string> paths,
    const MustStop& must_stop) {
  KYMO_ASSIGN_OR_RETURN(const ImporterRegistry* const importers, Importers());
  KYMO_ASSIGN_OR_RETURN(ReportCommand command, Parse(flags, paths, *importers));
  KYMO_ASSIGN_OR_RETURN(const tools::InputFiles inputs,
                        tools::InputFiles::Open(command.files));
  command.files = inputs.paths();
  absl::StatusOr<LoadedTrace> loaded = LoadAll(command, *importers, must_stop);
  if (!loaded.ok()) {
    return absl::Status(loaded.status().code(),
                        inputs.WithNames(ToStd(loaded.status().message())));
  }
  for (LoadedFile& file : loaded->files) {
    file.path = inputs.WithNames(file.path);
  }
  std::optional<model::Trace> chosen;
  if (!command.filter.empty()) {
    KYMO_ASSIGN_OR_RETURN(chosen,
                          tools::ChosenTrace(loaded->trace, command.filter));
  }
  return std::shared_ptr<OpenedTrace>(
      new OpenedTrace(std::move(flags), std::move(paths), std::move(command),
                      *std::move(loaded), std::move(chosen)));
}

std::string OpenedTrace::Findings() const {
  std::string lines;
  for (const LoadedFile& file : loaded_.files) {
    for (const ImportFinding& finding : file.findings) {
      if (finding.severity == ImportFinding::Severity::kNote) continue;
      absl::StrAppend(
          &lines, VisibleText(absl::StrCat(file.path, ": ", finding.message)),
          finding.count > 1 ? absl::StrCat(" (", finding.count, " times)") : "",
          "\n");
    }
  }
  return lines;
}

int64_t OpenedTrace::RowCount(std::string_view table) const {
  return static_cast<int64_t>(tables_.RowCount(*tables::FindTable(table)));
}

absl::StatusOr<std::unique_ptr<arrow::BatchSource>> OpenedTrace::Table(
    std::string_view name, const std::vector<std::string>& columns) const {
  const tables::Table* const table = tables::FindTable(name);
  if (table == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no table '", ToAbsl(name), "'"));
  }
  std::vector<const tables::Column*> chosen;
  for (const std::string& column : columns) {
    chosen.push_back(table->FindColumn(column));
    if (chosen.back() != nullptr) continue;
    std::vector<std::string> names;
    for (const tables::Column& each : table->columns) {
      names.emplace_back(each.name);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the table '", ToAbsl(name), "' has no column '", column,
                     "'; it has: ", absl::StrJoin(names, ", ")));
  }
  if (chosen.empty()) chosen = arrow::TableBatches::AllColumns(*table);
  const std::shared_ptr<const OpenedTrace> self = shared_from_this();
  return std::make_unique<arrow::TableBatches>(
      std::shared_ptr<const tables::TraceTables>(self, &tables_), *table,
      std::move(chosen));
}

absl::StatusOr<std::shared_ptr<const arrow::StoredRows>> OpenedTrace::Sql(
    std::string_view sql, const MustStop& must_stop) {
  if (!queries_) {
    QueryLimits limits = command_.sql_limits;
    limits.is_cancelled = [this] { return must_stop_(); };
    KYMO_ASSIGN_OR_RETURN(queries_, TraceQueries::Open(trace(), limits));
  }
  must_stop_ = must_stop;
  const auto limit = static_cast<size_t>(command_.sql_limits.max_memory_bytes);
  std::optional<arrow::RowStore> store;
  size_t columns = 0;
  size_t rows = 0;
  KYMO_RETURN_IF_ERROR(queries_->Run(
      sql,
      [&](std::vector<std::string> names) {
        columns = names.size();
        store.emplace(std::move(names));
        return absl::OkStatus();
      },
      [&](std::span<const QueryValue> row) {
        for (size_t i = 0; i < columns; ++i) {
          std::visit(AddTo{store->column(i)}, row[i]);
        }
        constexpr size_t kRowsPerCheck = 256;
        if (++rows % kRowsPerCheck != 0 || store->memory_bytes() <= limit) {
          return absl::OkStatus();
        }
        return absl::ResourceExhaustedError(absl::StrCat(
            "the result takes more than ", limit >> 20,
            " MiB; take fewer rows or columns, or a higher sql_max_mib"));
      }));
  return (*std::move(store)).Finish();
}

absl::StatusOr<ReportCommand> OpenedTrace::CommandWith(
    const std::vector<std::string>& flags) const {
  KYMO_ASSIGN_OR_RETURN(const ImporterRegistry* const importers, Importers());
  std::vector<std::string> all = flags_;
  all.insert(all.end(), flags.begin(), flags.end());
  return Parse(std::move(all), paths_, *importers);
}

absl::StatusOr<std::shared_ptr<const arrow::StoredRows>> OpenedTrace::Averages(
    const std::vector<std::string>& flags) const {
  KYMO_ASSIGN_OR_RETURN(const ReportCommand command, CommandWith(flags));
  KYMO_ASSIGN_OR_RETURN(
      const tools::TraceRows rows,
      tools::RowsOf(loaded_.trace, command.rows, command.filter));
  KYMO_ASSIGN_OR_RETURN(
      const tools::DataTable data,
      tools::RowData(rows, tools::OptionsFor(rows, command.table)));
  arrow::RowStore store(data.names());
  for (const std::vector<tools::DataValue>& row : data.rows()) {
    for (size_t i = 0; i < row.size(); ++i) {
      std::visit(AddTo{store.column(i)}, row[i]);
    }
  }
  return std::move(store).Finish();
}

absl::StatusOr<std::string> OpenedTrace::Report(
    const std::vector<std::string>& flags) const {
  KYMO_ASSIGN_OR_RETURN(const ReportCommand command, CommandWith(flags));
  KYMO_ASSIGN_OR_RETURN(const std::string text,
                        tools::TablesText(loaded_, command));
  return VisibleLines(text);
}

}  // namespace kymo::python
