#include "tools/report_command/report_flags.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "profiler/base/strings.h"
#include "profiler/model/activity_type.h"
#include "profiler/report/analyses.h"

namespace kymo::tools {
namespace {

constexpr char kAuto[] = "auto";

std::vector<std::string> AnalysisWords() {
  std::vector<std::string> words = {"all"};
  for (const report::Analysis& analysis : report::Analyses()) {
    words.emplace_back(analysis.name);
  }
  return words;
}

std::vector<std::string> CategoryWords() {
  std::vector<std::string> words;
  for (int i = 0; i < static_cast<int>(model::ActivityType::kCount); ++i) {
    words.emplace_back(
        model::ActivityTypeName(static_cast<model::ActivityType>(i)));
  }
  std::sort(words.begin(), words.end());
  return words;
}

std::optional<StepRange> ParseSteps(std::string_view text) {
  const size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const std::string_view last =
      dash == text.npos ? first : text.substr(dash + 1);
  const auto begin = setting::ParseInteger(first, 0, setting::kNoMost);
  const auto end = setting::ParseInteger(last, 0, setting::kNoMost);
  if (!begin || !end || *end < *begin) return std::nullopt;
  return StepRange{*begin, *end};
}

std::string StepsText(const StepRange& steps) {
  return absl::StrCat(steps.first, "-", steps.last);
}

std::optional<TimeRange> ParseTime(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == text.npos) return std::nullopt;
  TimeRange range;
  const auto read = [](std::string_view word, std::optional<DurationNs>& into) {
    absl::Duration duration;
    if (word.empty()) return true;
    if (!absl::ParseDuration(ToAbsl(word), &duration)) return false;
    into = absl::ToInt64Nanoseconds(duration);
    return true;
  };
  if (!read(text.substr(0, dots), range.begin_ns) ||
      !read(text.substr(dots + 2), range.end_ns) ||
      (range.begin_ns && range.end_ns && *range.begin_ns >= *range.end_ns)) {
    return std::nullopt;
  }
  return range;
}

std::string TimeText(const TimeRange& range) {
  const auto text = [](const std::optional<DurationNs>& time) {
    return time ? absl::StrCat(*time, "ns") : "";
  };
  return absl::StrCat(text(range.begin_ns), "..", text(range.end_ns));
}

// A flag that the user gives must say something. The empty text would unset the
// member, as if the flag were not there: --step=$STEP without a STEP would
// print all events.
template <typename S>
SettingValue<S> NotEmpty(SettingValue<S> value) {
  value.parse = [parse = std::move(value.parse)](std::string_view text,
                                                 S& into) {
    return !text.empty() && parse(text, into);
  };
  return value;
}

// A text, which `takes` describes in the error for an empty one.
template <typename S, typename T>
SettingValue<S> SomeText(T S::*member, std::string takes) {
  SettingValue<S> value = setting::Text(member);
  value.takes = std::move(takes);
  return NotEmpty(std::move(value));
}

SettingValue<ReportFlags> Threads() {
  SettingValue<ReportFlags> value = setting::Texts(&ReportFlags::thread);
  value.takes = "a list, separated by commas, of ids, PID/ID and names";
  return NotEmpty(std::move(value));
}

// The flags that choose what the command prints, and of which events.
std::vector<Setting<ReportFlags>> EventSettings() {
  using F = ReportFlags;
  const std::vector<std::string> analyses = AnalysisWords();
  const std::vector<std::string> categories = CategoryWords();
  return {
      {.name = "check",
       .value = setting::Switch(&F::check),
       .purpose = "Say what is wrong with the files instead of printing "
                  "tables: the importers' findings, nesting, links between "
                  "calls, operations and device work, steps. Status 3 if there "
                  "is more than notes.",
       .topic = "run",
       .is_common = true},
      {.name = "diff",
       .value = setting::Switch(&F::diff),
       .purpose = "Compare two files: what got slower, faster, new, gone. "
                  "--export=html makes a page of it, too. More files are "
                  "several runs of two programs, base/* head/* or BASE ... -- "
                  "HEAD ...: what surely changed.",
       .topic = "run",
       .is_common = true},
      {.name = "fail_if",
       .value = SomeText(&F::fail_if, "a list such as self_cpu>5%"),
       .purpose = "With --diff: end with status 4 if something surely changed "
                  "by more, such as steady_cpu>5%,allocations>0. It takes "
                  "self_cpu, steady_cpu, function_cpu, calls, allocations, "
                  "allocated_bytes, peak_bytes.",
       .hint = "LIMITS",
       .topic = "run"},
      {.name = "append",
       .value = SomeText(&F::append, "a file"),
       .purpose = "Add the trace to this history of runs (SQLite), instead of "
                  "printing tables; if there is none, make it.",
       .hint = "FILE",
       .topic = "run"},
      {.name = "run_name",
       .value = SomeText(&F::run_name, "a name, such as a commit's"),
       .purpose = "With --append: the run's name, such as the commit. Default: "
                  "when the recording began.",
       .hint = "NAME",
       .topic = "run"},
      {.name = "history",
       .value = SomeText(&F::history, "a file"),
       .purpose = "Print the runs of this history since which a row is "
                  "different, and how sure that is. It takes no trace.",
       .hint = "FILE",
       .topic = "run"},
      {.name = "history_page",
       .value = SomeText(&F::history_page, "a file"),
       .purpose = "With --history: draw the rows that changed on this HTML "
                  "page, too.",
       .hint = "FILE",
       .topic = "run"},
      {.name = "analysis",
       .value =
           NotEmpty(setting::Words(&F::analysis, setting::SameWords(analyses))),
       .purpose = "Print these analyses instead of the table; all is every "
                  "one. --format=csv takes one at a time.",
       .hint = "NAMES",
       .topic = "run",
       .is_common = true},
      {.name = "format",
       .value =
           setting::Word(&F::format, {{"text", TextFormat::kText},
                                      {"csv", TextFormat::kCsv},
                                      {"json", TextFormat::kJson},
                                      {"markdown", TextFormat::kMarkdown}}),
       .purpose = "How tables are printed; markdown is for --sql, --query, "
                  "--history and a --diff of several runs.",
       .hint = "FORMAT",
       .topic = "run",
       .is_common = true},
      {.name = "sql",
       .value = SomeText(&F::sql, "a statement of SQL, or - for a shell"),
       .purpose = "Answer this query instead of printing tables "
                  "(docs/query.md). -: read statements from standard input; on "
                  "a terminal, a shell.",
       .hint = "QUERY",
       .topic = "run",
       .is_common = true},
      {.name = "query",
       .value = SomeText(&F::query, "the name of a query, or list"),
       .purpose = "The same with a query that is ready to use; list prints "
                  "their names.",
       .hint = "NAME",
       .topic = "run",
       .is_common = true},
      {.name = "sql_max_seconds",
       .value = setting::Integer(&F::sql_max_seconds, 0, 1'000'000),
       .purpose = "End a query that takes longer, so that a join without a "
                  "condition does not hold up a script for ever; 0: never.",
       .topic = "run"},
      {.name = "sql_max_mib",
       .value = setting::Integer(&F::sql_max_mib, 1, kMostMib),
       .purpose = "End a query that sorts or groups more than this in memory, "
                  "before the machine runs out of it.",
       .topic = "run"},
      {.name = "name",
       .value = SomeText(&F::name, "a regular expression"),
       .purpose = "Only events in whose name this regular expression (POSIX "
                  "extended) is found.",
       .hint = "REGEX",
       .topic = "events",
       .is_common = true},
      {.name = "category",
       .value = NotEmpty(
           setting::Words(&F::category, setting::SameWords(categories))),
       .purpose = "Only events of these categories, as Chrome traces have "
                  "them.",
       .hint = "NAMES",
       .topic = "events"},
      {.name = "thread",
       .value = Threads(),
       .purpose = "Only events of these threads and streams.",
       .hint = "THREADS",
       .topic = "events"},
      {.name = "step",
       .value = NotEmpty(setting::Custom(&F::step, ParseSteps, StepsText,
                                         "N or N-M", "N[-M]")),
       .purpose = "Only events that began, and device work that was launched, "
                  "in step N or steps N-M.",
       .topic = "events",
       .is_common = true},
      {.name = "time",
       .value = NotEmpty(setting::Custom(
           &F::time, ParseTime, TimeText,
           "FROM..TO with units (1.5s..2s, 200ms.., ..10us)", "FROM..TO")),
       .purpose = "Only events that began in FROM..TO, counted from the start "
                  "of the trace.",
       .topic = "events",
       .is_common = true},
  };
}

// How the table looks.
std::vector<Setting<ReportFlags>> TableSettings() {
  using F = ReportFlags;
  const std::vector<std::string> units = {"s", "ms", "us"};
  return {
      {.name = "group_by",
       .value = NotEmpty(setting::Words(
           &F::group_by, {{"event", GroupKey::kEvent},
                          {"input_shape", GroupKey::kInputShape},
                          {"name", GroupKey::kName},
                          {"overload_name", GroupKey::kOverloadName},
                          {"stack", GroupKey::kStack}})),
       .purpose = "What the events of a row share: name, and any of "
                  "overload_name, input_shape, stack; or event: a row for each "
                  "event.",
       .hint = "KEYS",
       .topic = "table",
       .is_common = true},
      {.name = "stack_depth",
       .value = setting::Integer(&F::stack_depth, 1, 64),
       .purpose = "Innermost frames that make up a stack for "
                  "--group_by=stack.",
       .topic = "table"},
      {.name = "include_python_functions",
       .value = setting::Switch(&F::include_python_functions),
       .purpose = "Rows for the frames of a language, too.",
       .topic = "table"},
      {.name = "device",
       .value = setting::Text(&F::device),
       .purpose = "What the table calls devices; by default as the trace "
                  "does, or cuda.",
       .hint = "NAME",
       .topic = "table"},
      {.name = "max_name_column_width",
       .value = setting::Integer(&F::max_name_column_width),
       .purpose = "Most characters of a name; -1 = as wide as needed.",
       .topic = "table"},
      {.name = "max_src_column_width",
       .value = setting::Integer(&F::max_src_column_width),
       .purpose = "Most characters of a source location; -1 = as wide as "
                  "needed.",
       .topic = "table"},
      {.name = "max_shapes_column_width",
       .value = setting::Integer(&F::max_shapes_column_width),
       .purpose = "Most characters of input shapes; -1 = as wide as needed.",
       .topic = "table"},
      {.name = "header",
       .value = SomeText(&F::header, "a line of text"),
       .purpose = "A line above the table.",
       .topic = "table"},
      {.name = "top_level_events_only",
       .value = setting::Switch(&F::top_level_events_only),
       .purpose = "Only rows whose first event has no parent.",
       .topic = "table"},
      {.name = "time_unit",
       .value =
           NotEmpty(setting::Word(&F::time_unit, setting::SameWords(units))),
       .purpose = "The unit of all times. Default: by size.",
       .hint = "UNIT",
       .topic = "table"},
      {.name = "importer",
       .value = SomeText(&F::importer, "the name of a format"),
       .purpose = "Read all files as this format. Default: by what they begin "
                  "with.",
       .hint = "NAME",
       .topic = "files"},
      {.name = "max_unpacked_mib",
       .value = setting::Integer(&F::max_unpacked_mib, 1, kMostMib, "MiB"),
       .purpose = "What a compressed file may unpack to.",
       .topic = "files"},
  };
}

}  // namespace

ReportFlags::ReportFlags() { sort_by = kAuto; }

const SettingTable<ReportFlags>& ReportFlagTable() {
  static const auto& table = *new SettingTable<ReportFlags>(
      "",
      Joined(
          Joined(EventSettings(), TableSettings()),
          SharedSettings<ReportFlags>(
              {.exporters = "Write the trace (what the filters leave of it) "
                            "as these formats.",
               .sort_by = "Empty: in the order of their first events. auto: "
                          "self_device_time_total where a device worked, "
                          "else self_cpu_time_total. With --diff, the time "
                          "that is compared.",
               .sort_words = {kAuto},
               .output_name = "<file>",
               .with_flops = "Default: as the trace says.",
               .list = "List analyses, importers and exporters, then exit."})));
  return table;
}

}  // namespace kymo::tools
