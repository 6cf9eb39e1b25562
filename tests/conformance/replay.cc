#include "tests/conformance/replay.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/events/event_list.h"
#include "profiler/report/table.h"
#include "tests/conformance/case.h"
#include "tests/conformance/event_json.h"
#include "tests/conformance/replay_schedule.h"

namespace kymo::conformance {
namespace {

using report::TableOptions;

constexpr size_t kMostStackEntries = 10;

// How the tables of a kind of case were asked for.
struct TableCalls {
  int sorted_rows;
  int memory_sorted_rows;
  int shape_rows;
  TableOptions narrow;
  TableOptions by_stack;
};

TableCalls RealTables() {
  return {
      .sorted_rows = 10,
      .memory_sorted_rows = 15,
      .shape_rows = 15,
      .narrow = {.sort_by = "cpu_time_total",
                 .row_limit = 5,
                 .max_name_column_width = 20,
                 .header = "A header line"},
      .by_stack = {.sort_by = "self_cpu_time_total", .row_limit = 15},
  };
}

TableCalls SyntheticTables() {
  return {
      .sorted_rows = 12,
      .memory_sorted_rows = 12,
      .shape_rows = 20,
      .narrow = {.sort_by = "count",
                 .row_limit = 7,
                 .max_name_column_width = 18,
                 .header = "== header =="},
      .by_stack = {.sort_by = "self_cpu_time_total",
                   .row_limit = 20,
                   .max_src_column_width = 30},
  };
}

// Adds results to files.
class Results {
 public:
  Results(const Case& c, TableCalls calls)
      : case_(c), calls_(std::move(calls)) {}

  absl::StatusOr<Files> Make() {
    KYMO_RETURN_IF_ERROR(EventTables());
    KYMO_RETURN_IF_ERROR(AverageTables());
    KYMO_RETURN_IF_ERROR(Groups());
    KYMO_RETURN_IF_ERROR(Stacks());
    return std::move(files_);
  }

 private:
  // `list` is the list of events or one of averages.
  template <typename List>
  absl::Status Table(const List& list, std::string_view name,
                     TableOptions options) {
    KYMO_ASSIGN_OR_RETURN(files_[absl::StrCat("table.", ToAbsl(name), ".txt")],
                          list.table(std::move(options)));
    return absl::OkStatus();
  }

  absl::Status EventTables() {
    KYMO_RETURN_IF_ERROR(Table(case_.events, "events", {}));
    return Table(case_.events, "events.top_level",
                 {.row_limit = -1, .top_level_events_only = true});
  }

  absl::Status AverageTables() {
    KYMO_ASSIGN_OR_RETURN(const EventAverages averages,
                          case_.events.key_averages());
    files_["key_averages.json"] = AveragesJson(averages);
    KYMO_RETURN_IF_ERROR(Table(averages, "key_averages.default", {}));
    KYMO_RETURN_IF_ERROR(Table(averages, "key_averages.narrow", calls_.narrow));
    for (const std::string_view key : report::TableSortKeys()) {
      const bool is_memory = key.find("memory") != key.npos;
      TableOptions options;
      options.sort_by = key;
      options.row_limit =
          is_memory ? calls_.memory_sorted_rows : calls_.sorted_rows;
      KYMO_RETURN_IF_ERROR(
          Table(averages, "key_averages." + std::string(key), options));
    }
    for (const std::string unit : {"s", "ms", "us"}) {
      KYMO_RETURN_IF_ERROR(Table(
          averages, "key_averages.time_unit_" + unit,
          {.sort_by = "cpu_time_total", .row_limit = 6, .time_unit = unit}));
    }
    return absl::OkStatus();
  }

  absl::Status Groups() {
    KYMO_RETURN_IF_ERROR(Group(
        "by_shape", {.group_by_input_shape = true},
        {.sort_by = "self_cpu_time_total", .row_limit = calls_.shape_rows}));
    for (size_t n = 1; n <= kMostStackEntries; ++n) {
      KYMO_RETURN_IF_ERROR(Group("by_stack" + std::to_string(n),
                                 {.group_by_stack_n = n}, calls_.by_stack));
    }
    return absl::OkStatus();
  }

  absl::Status Group(const std::string& name, const KeyAveragesOptions& options,
                     const TableOptions& table) {
    KYMO_ASSIGN_OR_RETURN(const EventAverages averages,
                          case_.events.key_averages(options));
    files_["key_averages." + name + ".json"] = AveragesJson(averages);
    return Table(averages, "key_averages." + name, table);
  }

  absl::Status Stacks() {
    for (const char* const metric :
         {"self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total",
          "self_privateuse1_time_total"}) {
      KYMO_ASSIGN_OR_RETURN(files_[absl::StrCat("stacks.", metric, ".txt")],
                            case_.events.folded_stacks(metric));
    }
    return absl::OkStatus();
  }

  const Case& case_;
  const TableCalls calls_;
  Files files_;
};

absl::StatusOr<Files> ReplaySynthetic(const std::string& input) {
  KYMO_ASSIGN_OR_RETURN(Case c, ReadSyntheticCase(input));
  KYMO_RETURN_IF_ERROR(c.events.build_tree());
  KYMO_ASSIGN_OR_RETURN(Files files, Results(c, SyntheticTables()).Make());
  KYMO_ASSIGN_OR_RETURN(const FunctionEventAvg total, c.events.total_average());
  files["expected_events.json"] = ExpectedEventsJson(c);
  files["total_average.json"] = SyntheticTotalJson(total);
  return files;
}

absl::StatusOr<Files> ReplayReal(const std::string& input) {
  KYMO_ASSIGN_OR_RETURN(Case c, ReadRealCase(input));
  KYMO_RETURN_IF_ERROR(c.events.build_tree());
  KYMO_ASSIGN_OR_RETURN(Files files, Results(c, RealTables()).Make());
  KYMO_ASSIGN_OR_RETURN(const FunctionEventAvg total, c.events.total_average());
  files["events.json"] = EventsJson(c);
  files["total_average.json"] = RealTotalJson(total);
  return files;
}

// The file that a kind of case is replayed from, and the function that does it.
struct Source {
  const char* file;
  absl::StatusOr<Files> (*replay)(const std::string& content);
};

constexpr Source kSources[] = {
    {"input.json", ReplaySynthetic},
    {"events.json", ReplayReal},
    {"schedule.json", ReplaySchedule},
};

}  // namespace

absl::StatusOr<Files> Replay(const Files& input) {
  for (const Source& source : kSources) {
    const auto found = input.find(source.file);
    if (found != input.end()) return source.replay(found->second);
  }
  return absl::NotFoundError(absl::StrCat(
      "nothing to replay: the case has none of ",
      absl::StrJoin(kSources, ", ", [](std::string* out, const Source& source) {
        out->append(source.file);
      })));
}

}  // namespace kymo::conformance
