#include "tools/report_command/options.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/activity_type.h"
#include "profiler/report/analyses.h"
#include "tools/command_line/exporter_words.h"

ABSL_FLAG(bool, check, false,
          "Say what is wrong with the files instead of printing tables: the "
          "importers' findings, nesting, links between calls, operations and "
          "device work, steps. Status 3 if there is more than notes.");
ABSL_FLAG(bool, diff, false,
          "Compare two files: what got slower, faster, new, gone.");
ABSL_FLAG(std::vector<std::string>, analysis, {},
          "Print these analyses instead of the table, separated by commas; all "
          "is every one. --format=csv takes one at a time.");
ABSL_FLAG(std::string, format, "text", "text, csv or json.");
ABSL_FLAG(std::vector<std::string>, group_by, {"name"},
          "What the events of a row share: name, and any of overload_name, "
          "input_shape, stack; or event: a row for each event.");
ABSL_FLAG(int, stack_depth, 5,
          "Innermost frames that make up a stack for --group_by=stack, 1 to "
          "64.");
ABSL_FLAG(bool, include_python_functions, false,
          "Rows for the frames of a language, too.");
ABSL_FLAG(bool, with_flops, false,
          "Estimate the FLOPs of operations from their inputs. Default: as "
          "the trace says.");
ABSL_FLAG(std::string, device, "cuda", "What the table calls devices.");

ABSL_FLAG(std::string, name, "",
          "Only events in whose name this regular expression (POSIX extended) "
          "is found.");
ABSL_FLAG(std::vector<std::string>, category, {},
          "Only events of these categories, as Chrome traces have them: "
          "cpu_op, kernel, gpu_memcpy, cuda_runtime, user_annotation, ...");
ABSL_FLAG(std::vector<std::string>, thread, {},
          "Only events of these threads and streams: an id, PID/ID, or a "
          "name.");
ABSL_FLAG(std::string, step, "",
          "Only events that began, and device work that was launched, in step "
          "N or steps N-M.");
ABSL_FLAG(std::string, time, "",
          "Only events that began in FROM..TO, counted from the start of the "
          "trace: 1.5s..2s, 200ms.., ..10us.");

ABSL_FLAG(std::string, sort_by, "auto",
          "Column to sort the table by, largest first; empty: in the order of "
          "their first events. Default: self_device_time_total where a device "
          "worked, else self_cpu_time_total. With --diff, the time that is "
          "compared.");
ABSL_FLAG(int, row_limit, 100, "Rows of the table; -1 = all.");
ABSL_FLAG(int, max_name_column_width, 55,
          "Most characters of a name; -1 = as wide as needed.");
ABSL_FLAG(int, max_src_column_width, 75, "The same of a source location.");
ABSL_FLAG(int, max_shapes_column_width, 80, "The same of input shapes.");
ABSL_FLAG(std::string, header, "", "A line above the table.");
ABSL_FLAG(bool, top_level_events_only, false,
          "Only rows whose (first) event is inside of no other.");
ABSL_FLAG(std::string, time_unit, "", "s, ms or us. Default: by size.");

ABSL_FLAG(std::string, importer, "",
          "Read all files as this format. Default: by what they begin with.");
ABSL_FLAG(int64_t, max_unpacked_mib, 65536,
          "Most MiB that a compressed file may unpack to.");
ABSL_FLAG(std::vector<std::string>, export, {},
          "Write the trace (what the filters leave of it) as these formats, "
          "separated by commas: names of exporters, or paths (with a slash) of "
          "libraries that hold further ones, whose own flags stand after this "
          "one.");
ABSL_FLAG(std::string, output_dir, "",
          "Folder for the files of --export; relative to where you stand. "
          "Default: kymo-out/<file>-<date>-<time>.");
ABSL_FLAG(bool, gzip, false, "Compress exported traces: trace.json.gz.");
ABSL_FLAG(int64_t, max_file_mib, 0,
          "Split timelines whose file would be larger, in MiB, at the steps of "
          "the program: trace.steps_0-99.json. 0 = never.");
ABSL_FLAG(bool, quiet, false, "No words on standard error but errors.");
ABSL_FLAG(bool, list, false,
          "List analyses, importers and exporters, then exit.");

namespace kymo::tools {
namespace {

constexpr int64_t kMostMib = int64_t{1} << 20;
constexpr int64_t kBytesPerMib = int64_t{1} << 20;

constexpr OwnFlag kOwnFlags[] = {
    {"analysis", "NAMES"},
    {"category", "NAMES"},
    {"check", nullptr},
    {"device", "NAME"},
    {"diff", nullptr},
    {"export", "NAMES"},
    {"format", "FORMAT"},
    {"group_by", "KEYS"},
    {"gzip", nullptr},
    {"header", "TEXT"},
    {"importer", "NAME"},
    {"include_python_functions", nullptr},
    {"list", nullptr},
    {"max_file_mib", "N"},
    {"max_name_column_width", "N"},
    {"max_shapes_column_width", "N"},
    {"max_src_column_width", "N"},
    {"max_unpacked_mib", "N"},
    {"name", "REGEX"},
    {"output_dir", "DIR"},
    {"quiet", nullptr},
    {"row_limit", "N"},
    {"sort_by", "COLUMN"},
    {"stack_depth", "N"},
    {"step", "N[-M]"},
    {"thread", "THREADS"},
    {"time", "FROM..TO"},
    {"time_unit", "UNIT"},
    {"top_level_events_only", nullptr},
    {"with_flops", nullptr},
};

absl::Status Invalid(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

absl::StatusOr<TextFormat> FormatOf(const std::string& word) {
  if (word == "text") return TextFormat::kText;
  if (word == "csv") return TextFormat::kCsv;
  if (word == "json") return TextFormat::kJson;
  return Invalid(
      absl::StrCat("--format is text, csv or json, not '", word, "'"));
}

absl::Status SetAnalyses(ReportCommand& command) {
  for (const std::string& word : absl::GetFlag(FLAGS_analysis)) {
    std::vector<std::string> known;
    for (const report::Analysis& analysis : report::Analyses()) {
      known.emplace_back(analysis.name);
    }
    if (word == "all") {
      command.analyses = known;
    } else if (report::FindAnalysis(word) != nullptr) {
      command.analyses.push_back(word);
    } else {
      return Invalid(absl::StrCat("there is no analysis '", word,
                                  "'; it is one of: all, ",
                                  absl::StrJoin(known, ", ")));
    }
  }
  if (command.analyses.size() > 1 && command.format == TextFormat::kCsv) {
    return Invalid("--format=csv takes one --analysis at a time");
  }
  return absl::OkStatus();
}

absl::Status SetGrouping(RowOptions& rows) {
  const int depth = absl::GetFlag(FLAGS_stack_depth);
  if (depth < 1 || depth > 64) return Invalid("--stack_depth takes 1 to 64");
  for (const std::string& key : absl::GetFlag(FLAGS_group_by)) {
    if (key == "event") {
      rows.single_events = true;
    } else if (key == "overload_name") {
      rows.grouping.group_by_overload_name = true;
    } else if (key == "input_shape") {
      rows.grouping.group_by_input_shape = true;
    } else if (key == "stack") {
      rows.grouping.group_by_stack_n = static_cast<size_t>(depth);
    } else if (key != "name") {
      return Invalid(absl::StrCat(
          "--group_by has no key '", key,
          "'; it is one of: event, input_shape, name, overload_name, stack"));
    }
  }
  rows.grouping.include_python_functions =
      absl::GetFlag(FLAGS_include_python_functions);
  rows.with_flops = absl::GetFlag(FLAGS_with_flops);
  rows.device = absl::GetFlag(FLAGS_device);
  if (rows.device.empty()) return Invalid("--device needs a name");
  return absl::OkStatus();
}

std::optional<int> Width(int flag) {
  return flag < 0 ? std::nullopt : std::optional<int>(flag);
}

absl::Status SetTable(report::TableOptions& table) {
  table.sort_by = absl::GetFlag(FLAGS_sort_by);
  const auto keys = report::TableSortKeys();
  if (!table.sort_by.empty() && table.sort_by != "auto" &&
      std::find(keys.begin(), keys.end(), table.sort_by) == keys.end()) {
    std::string known;
    for (const std::string_view key : keys) {
      absl::StrAppend(&known, known.empty() ? "" : ", ", ToAbsl(key));
    }
    return Invalid(absl::StrCat("there is no column '", table.sort_by,
                                "' to sort by; it is one of: ", known));
  }
  table.row_limit = absl::GetFlag(FLAGS_row_limit);
  table.max_name_column_width =
      Width(absl::GetFlag(FLAGS_max_name_column_width));
  table.max_src_column_width = Width(absl::GetFlag(FLAGS_max_src_column_width));
  table.max_shapes_column_width =
      Width(absl::GetFlag(FLAGS_max_shapes_column_width));
  const std::string header = absl::GetFlag(FLAGS_header);
  if (!header.empty()) table.header = header;
  table.top_level_events_only = absl::GetFlag(FLAGS_top_level_events_only);
  table.time_unit = absl::GetFlag(FLAGS_time_unit);
  if (table.time_unit != "" && table.time_unit != "s" &&
      table.time_unit != "ms" && table.time_unit != "us") {
    return Invalid(absl::StrCat("--time_unit is s, ms or us, not '",
                                table.time_unit, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<StepRange> StepsOf(const std::string& text) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(text, absl::MaxSplits('-', 1));
  StepRange range;
  const bool is_one = parts.second.empty() && text.find('-') == text.npos;
  if (!absl::SimpleAtoi(parts.first, &range.first) ||
      !absl::SimpleAtoi(is_one ? parts.first : parts.second, &range.last) ||
      range.first < 0 || range.last < range.first) {
    return Invalid(absl::StrCat("--step is N or N-M, not '", text, "'"));
  }
  return range;
}

absl::Status SetTime(const std::string& text, EventFilter& filter) {
  const auto bad = [&] {
    return Invalid(absl::StrCat(
        "--time is FROM..TO with units (1.5s..2s, 200ms.., ..10us), not '",
        text, "'"));
  };
  const size_t dots = text.find("..");
  if (dots == text.npos) return bad();
  const auto read = [](const std::string& word,
                       std::optional<DurationNs>& into) {
    absl::Duration duration;
    if (word.empty()) return true;
    if (!absl::ParseDuration(word, &duration)) return false;
    into = absl::ToInt64Nanoseconds(duration);
    return true;
  };
  if (!read(text.substr(0, dots), filter.begin_ns) ||
      !read(text.substr(dots + 2), filter.end_ns)) {
    return bad();
  }
  return absl::OkStatus();
}

absl::Status SetFilter(EventFilter& filter) {
  filter.name = absl::GetFlag(FLAGS_name);
  filter.categories = absl::GetFlag(FLAGS_category);
  filter.threads = absl::GetFlag(FLAGS_thread);
  for (const std::string& category : filter.categories) {
    if (model::ParseActivityType(category)) continue;
    std::vector<std::string> known;
    for (int i = 0; i < static_cast<int>(model::ActivityType::kCount); ++i) {
      known.emplace_back(
          model::ActivityTypeName(static_cast<model::ActivityType>(i)));
    }
    std::sort(known.begin(), known.end());
    return Invalid(
        absl::StrCat("there is no category '", category,
                     "'; it is one of: ", absl::StrJoin(known, ", ")));
  }
  const std::string step = absl::GetFlag(FLAGS_step);
  if (!step.empty()) {
    KYMO_ASSIGN_OR_RETURN(filter.steps, StepsOf(step));
  }
  const std::string time = absl::GetFlag(FLAGS_time);
  return time.empty() ? absl::OkStatus() : SetTime(time, filter);
}

absl::Status SetFiles(const ImporterRegistry& importers,
                      ReportCommand& command) {
  command.importer = absl::GetFlag(FLAGS_importer);
  if (!command.importer.empty() &&
      importers.Find(command.importer) == nullptr) {
    return Invalid(absl::StrCat("there is no importer '", command.importer,
                                "'; it is one of: ", importers.Names()));
  }
  const int64_t unpacked_mib = absl::GetFlag(FLAGS_max_unpacked_mib);
  const int64_t file_mib = absl::GetFlag(FLAGS_max_file_mib);
  if (unpacked_mib < 1 || unpacked_mib > kMostMib) {
    return Invalid("--max_unpacked_mib takes 1 to 1048576");
  }
  if (file_mib < 0 || file_mib > kMostMib) {
    return Invalid("--max_file_mib takes 0 to 1048576");
  }
  command.max_unpacked_bytes = unpacked_mib * kBytesPerMib;
  command.max_file_bytes = file_mib * kBytesPerMib;
  command.output_dir = absl::GetFlag(FLAGS_output_dir);
  command.gzip = absl::GetFlag(FLAGS_gzip);
  return absl::OkStatus();
}

absl::Status CheckModes(const ReportCommand& command) {
  if (command.list) return absl::OkStatus();
  if (command.files.empty()) {
    return Invalid("no file; usage: report [flags] FILE ... (see --help)");
  }
  if (command.check && command.diff) {
    return Invalid("--check and --diff exclude each other");
  }
  if (command.diff && command.files.size() != 2) {
    return Invalid(
        absl::StrCat("--diff compares two files, not ", command.files.size()));
  }
  if ((command.diff || command.check) &&
      !(command.exporters.empty() && command.analyses.empty())) {
    return Invalid("--export and --analysis do not go with --check or --diff");
  }
  if (command.diff && command.rows.single_events) {
    return Invalid("--diff compares groups, not --group_by=event");
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const OwnFlag> ReportFlags() { return kOwnFlags; }

absl::StatusOr<ReportCommand> ParseReport(
    const std::vector<std::string>& arguments,
    const ImporterRegistry& importers, ExporterRegistry& exporters) {
  ReportCommand command;
  FlagRules rules;
  rules.flags = kOwnFlags;
  rules.place = FlagPlace::kAnywhere;
  rules.plugin_options = [&] {
    std::set<std::string> names;
    for (const auto* importer : importers.List()) {
      AddOptionNames(importer->info(), names);
    }
    for (const auto* exporter : exporters.List()) {
      AddOptionNames(exporter->info(), names);
    }
    return names;
  };
  rules.on_flag = [&](std::string_view name) -> absl::Status {
    if (name != "export") return absl::OkStatus();
    KYMO_ASSIGN_OR_RETURN(
        command.exporters,
        FindAllExporters(absl::GetFlag(FLAGS_export), exporters));
    return absl::OkStatus();
  };
  KYMO_ASSIGN_OR_RETURN(FlagWords words, ReadFlagWords(arguments, rules));
  command.help = words.help;
  if (command.help) return command;
  command.files = std::move(words.others);
  command.settings = std::move(words.settings);
  command.list = absl::GetFlag(FLAGS_list);
  command.check = absl::GetFlag(FLAGS_check);
  command.diff = absl::GetFlag(FLAGS_diff);
  command.quiet = absl::GetFlag(FLAGS_quiet);
  KYMO_ASSIGN_OR_RETURN(command.format, FormatOf(absl::GetFlag(FLAGS_format)));
  KYMO_RETURN_IF_ERROR(SetAnalyses(command));
  KYMO_RETURN_IF_ERROR(SetGrouping(command.rows));
  KYMO_RETURN_IF_ERROR(SetTable(command.table));
  KYMO_RETURN_IF_ERROR(SetFilter(command.filter));
  KYMO_RETURN_IF_ERROR(SetFiles(importers, command));
  KYMO_RETURN_IF_ERROR(CheckModes(command));
  return command;
}

}  // namespace kymo::tools
