#include "tools/report_command/options.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/query/ready_queries.h"
#include "profiler/report/analyses.h"
#include "tools/command_line/exporter_words.h"
#include "tools/command_line/flag_words.h"
#include "tools/deliver/view_page.h"
#include "tools/report_command/report_flags.h"

namespace kymo::tools {
namespace {

absl::Status Invalid(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

absl::Status SetAnalyses(const ReportFlags& flags, ReportCommand& command) {
  for (const std::string& word :
       flags.analysis.value_or(std::vector<std::string>())) {
    if (word != "all") {
      command.analyses.push_back(word);
      continue;
    }
    command.analyses.clear();
    for (const report::Analysis& analysis : report::Analyses()) {
      command.analyses.emplace_back(analysis.name);
    }
  }
  if (command.analyses.size() > 1 && command.format == TextFormat::kCsv) {
    return Invalid("--format=csv takes one --analysis at a time");
  }
  return absl::OkStatus();
}

absl::Status SetSql(const ReportFlags& flags, ReportCommand& command) {
  command.sql = flags.sql;
  command.sql_limits = {
      .max_time_ns = int64_t{flags.sql_max_seconds} * 1'000'000'000,
      .max_memory_bytes = flags.sql_max_mib << 20,
      .is_alone = true};
  command.lists_queries = flags.query == "list";
  if (flags.query.empty() || command.lists_queries) return absl::OkStatus();
  if (!flags.sql.empty()) {
    return Invalid("--sql and --query exclude each other");
  }
  const query::ReadyQuery* const ready = query::FindReadyQuery(flags.query);
  if (ready == nullptr) {
    return Invalid(absl::StrCat("there is no query '", flags.query,
                                "'; --query=list lists them"));
  }
  command.sql = ready->sql;
  return absl::OkStatus();
}

// What is there instead of the table, and goes with nothing else of its kind.
absl::Status CheckSql(const ReportCommand& command) {
  if (command.sql.empty()) {
    if (command.format != TextFormat::kMarkdown || command.compares_runs() ||
        !command.history.empty()) {
      return absl::OkStatus();
    }
    return Invalid(
        "--format=markdown is for --sql, --query, --history and --diff");
  }
  if (command.check || command.diff || !command.analyses.empty()) {
    return Invalid(
        "--sql and --query do not go with --check, --diff or --analysis");
  }
  return absl::OkStatus();
}

absl::Status SetRows(const ReportFlags& flags, RowOptions& rows) {
  for (const GroupKey key : flags.group_by.value_or(std::vector<GroupKey>())) {
    switch (key) {
      case GroupKey::kEvent:
        rows.single_events = true;
        break;
      case GroupKey::kOverloadName:
        rows.grouping.group_by_overload_name = true;
        break;
      case GroupKey::kInputShape:
        rows.grouping.group_by_input_shape = true;
        break;
      case GroupKey::kStack:
        rows.grouping.group_by_stack_n = static_cast<size_t>(flags.stack_depth);
        break;
      case GroupKey::kName:
        break;
    }
  }
  rows.grouping.include_python_functions = flags.include_python_functions;
  rows.with_flops = flags.with_flops;
  rows.device = flags.device;
  return absl::OkStatus();
}

std::optional<int> Width(int flag) {
  return flag < 0 ? std::nullopt : std::optional<int>(flag);
}

void SetTable(const ReportFlags& flags, report::TableOptions& table) {
  table.sort_by = flags.sort_by.value_or("");
  table.row_limit = flags.row_limit;
  table.max_name_column_width = Width(flags.max_name_column_width);
  table.max_src_column_width = Width(flags.max_src_column_width);
  table.max_shapes_column_width = Width(flags.max_shapes_column_width);
  if (!flags.header.empty()) table.header = flags.header;
  table.top_level_events_only = flags.top_level_events_only;
  table.time_unit = flags.time_unit.value_or("");
}

void SetFilter(const ReportFlags& flags, EventFilter& filter) {
  filter.name = flags.name;
  filter.categories = flags.category.value_or(std::vector<std::string>());
  filter.threads = flags.thread;
  filter.steps = flags.step;
  if (flags.time) {
    filter.begin_ns = flags.time->begin_ns;
    filter.end_ns = flags.time->end_ns;
  }
}

absl::Status SetFiles(const ReportFlags& flags,
                      const ImporterRegistry& importers,
                      ReportCommand& command) {
  command.importer = flags.importer;
  if (!command.importer.empty() &&
      importers.Find(command.importer) == nullptr) {
    return Invalid(absl::StrCat("there is no importer '", command.importer,
                                "'; it is one of: ", importers.Names()));
  }
  command.max_unpacked_bytes = flags.max_unpacked_mib << 20;
  command.max_size = flags.max_size;
  command.max_file_bytes = flags.max_file_mib << 20;
  command.output_dir = flags.output_dir;
  command.gzip = flags.gzip;
  command.view = flags.view;
  if (command.view &&
      std::ranges::count(command.exporters, kPageExporter) == 0) {
    command.exporters.emplace_back(kPageExporter);
  }
  return absl::OkStatus();
}

// How many of the files of --diff are of base: those before "--", else those in
// the folder of the first one, which must be one of two.
absl::StatusOr<size_t> BaseFiles(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& files) {
  const auto dashes = std::ranges::find(arguments, "--");
  const auto behind = static_cast<size_t>(arguments.end() - dashes);
  if (behind == 1) {
    return Invalid(
        "--diff has no file behind --: those of head stand there, after those "
        "of base");
  }
  if (behind > 1 && behind - 1 < files.size()) {
    return files.size() - (behind - 1);
  }
  if (files.size() == 2) return 1;
  const auto folder = [&](const std::string& file) {
    return file.substr(0, std::min(file.rfind('/'), file.size()));
  };
  const std::string first = folder(files.empty() ? "" : files[0]);
  const auto other = std::ranges::find_if(
      files, [&](const std::string& file) { return folder(file) != first; });
  const bool are_two = std::all_of(other, files.end(), [&](const auto& file) {
    return folder(file) == folder(*other);
  });
  if (other == files.end() || !are_two) {
    return Invalid(absl::StrCat(
        "--diff compares two files, not ", files.size(),
        "; for several runs of two programs: --diff base/* head/*, or --diff "
        "BASE ... -- HEAD ..."));
  }
  return static_cast<size_t>(other - files.begin());
}

absl::Status SetDiff(const ReportFlags& flags,
                     const std::vector<std::string>& arguments,
                     ReportCommand& command) {
  if (!flags.fail_if.empty()) {
    KYMO_ASSIGN_OR_RETURN(command.limits, ParseLimits(flags.fail_if));
  }
  if (!command.diff || command.list || command.version) return absl::OkStatus();
  if (command.check) return Invalid("--check and --diff exclude each other");
  if (command.files.empty()) return absl::OkStatus();
  KYMO_ASSIGN_OR_RETURN(command.base_files,
                        BaseFiles(arguments, command.files));
  return absl::OkStatus();
}

absl::Status CheckHistory(const ReportCommand& command) {
  const bool is_other = command.check || command.diff ||
                        !command.analyses.empty() || !command.sql.empty() ||
                        !command.exporters.empty();
  if (is_other && !(command.append.empty() && command.history.empty())) {
    return Invalid(
        "--append and --history go without --check, --diff, --analysis, --sql, "
        "--query, --export and --view");
  }
  if (!command.history.empty() && !command.files.empty()) {
    return Invalid(
        "--history takes no trace; to add one to it: --append=FILE TRACE");
  }
  if (!command.history.empty() && command.format == TextFormat::kCsv) {
    return Invalid("--history takes --format=text, markdown or json");
  }
  if (!command.run_name.empty() && command.append.empty()) {
    return Invalid("--run_name goes with --append");
  }
  if (!command.history_page.empty() && command.history.empty()) {
    return Invalid("--history_page goes with --history");
  }
  return absl::OkStatus();
}

absl::Status CheckModes(const ReportCommand& command,
                        const ExporterRegistry& exporters) {
  if (command.list || command.version || command.lists_queries) {
    return absl::OkStatus();
  }
  KYMO_RETURN_IF_ERROR(CheckSql(command));
  KYMO_RETURN_IF_ERROR(CheckHistory(command));
  if (!command.history.empty()) return absl::OkStatus();
  if (command.files.empty()) {
    return Invalid("no file; usage: kymo report [flags] FILE ... (see --help)");
  }
  if (!command.diff && !command.limits.empty()) {
    return Invalid("--fail_if goes with --diff");
  }
  if (command.compares_runs() && command.format == TextFormat::kCsv) {
    return Invalid("--format=csv does not go with a --diff of several runs");
  }
  if (command.compares_runs() && !command.exporters.empty()) {
    return Invalid("--export and --view compare one run with one");
  }
  if ((command.diff || command.check) && !command.analyses.empty()) {
    return Invalid("--analysis does not go with --check or --diff");
  }
  if (command.check && !command.exporters.empty()) {
    return Invalid("--export and --view do not go with --check");
  }
  for (const std::string& name : command.exporters) {
    if (command.diff && !exporters.Find(name)->info().compares) {
      return Invalid(
          absl::StrCat("--export=", name,
                       " compares nothing; with --diff, try --export=html"));
    }
  }
  if (command.diff && command.rows.single_events) {
    return Invalid("--diff compares groups, not --group_by=event");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReportCommand> ParseReport(
    const std::vector<std::string>& arguments,
    const ImporterRegistry& importers, ExporterRegistry& exporters) {
  ReportCommand command;
  FlagRules rules;
  rules.own = ReportFlagTable().infos();
  rules.place = FlagPlace::kAnywhere;
  rules.plugin_settings = [&] {
    std::vector<SettingInfo> settings;
    for (const TraceImporter* const importer : importers.List()) {
      settings = JoinSettings({settings, importer->info().settings});
    }
    for (const TraceExporter* const exporter : exporters.List()) {
      settings = JoinSettings({settings, exporter->info().settings});
    }
    return settings;
  };
  rules.on_flag = [&](std::string_view name,
                      std::string_view value) -> absl::Status {
    if (name != "export") return absl::OkStatus();
    KYMO_ASSIGN_OR_RETURN(
        command.exporters,
        FindAllExporters(setting::SplitList(value), exporters));
    return absl::OkStatus();
  };
  KYMO_ASSIGN_OR_RETURN(FlagWords words, ReadFlagWords(arguments, rules));
  command.help = words.help;
  command.notices = std::move(words.notices);
  if (command.help) return command;
  command.files = std::move(words.others);
  command.settings = std::move(words.settings);
  KYMO_ASSIGN_OR_RETURN(const ReportFlags flags,
                        ReportFlagTable().Read(words.own));
  command.list = flags.list;
  command.version = flags.version;
  command.check = flags.check;
  command.diff = flags.diff;
  command.quiet = flags.quiet;
  command.format = flags.format;
  command.append = flags.append;
  command.run_name = flags.run_name;
  command.history = flags.history;
  command.history_page = flags.history_page;
  KYMO_RETURN_IF_ERROR(SetDiff(flags, arguments, command));
  KYMO_RETURN_IF_ERROR(SetAnalyses(flags, command));
  KYMO_RETURN_IF_ERROR(SetSql(flags, command));
  KYMO_RETURN_IF_ERROR(SetRows(flags, command.rows));
  SetTable(flags, command.table);
  SetFilter(flags, command.filter);
  KYMO_RETURN_IF_ERROR(SetFiles(flags, importers, command));
  KYMO_RETURN_IF_ERROR(CheckModes(command, exporters));
  return command;
}

}  // namespace kymo::tools
