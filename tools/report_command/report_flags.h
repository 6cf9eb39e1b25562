// report_flags.h - the flags of //tools:report, as they are declared.
//
//   KYMO_ASSIGN_OR_RETURN(const ReportFlags flags,
//                         ReportFlagTable().Read(words.own));
//
// options.h makes a command of them.
#ifndef KYMO_TOOLS_REPORT_COMMAND_REPORT_FLAGS_H_
#define KYMO_TOOLS_REPORT_COMMAND_REPORT_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/plugin/settings.h"
#include "profiler/plugin/trace_importer.h"
#include "profiler/report/table.h"
#include "tools/command_line/shared_flags.h"
#include "tools/report_command/data_text.h"
#include "tools/report_command/event_filter.h"
#include "tools/report_command/row_source.h"

namespace kymo::tools {

enum class GroupKey { kName, kOverloadName, kInputShape, kStack, kEvent };

// The part of a trace that --time names.
struct TimeRange {
  std::optional<DurationNs> begin_ns;
  std::optional<DurationNs> end_ns;
};

struct ReportFlags : SharedFlags {
  ReportFlags();

  bool check = false;
  bool diff = false;
  std::string fail_if;
  std::string append;
  std::string run_name;
  std::string history;
  std::string history_page;
  std::optional<std::vector<std::string>> analysis;
  std::string sql;
  std::string query;
  int sql_max_seconds = 300;
  int64_t sql_max_mib = 1024;
  TextFormat format = TextFormat::kText;
  std::optional<std::vector<GroupKey>> group_by = {{GroupKey::kName}};
  int stack_depth = 5;
  bool include_python_functions = false;
  std::string device = RowOptions().device;
  std::string name;
  std::optional<std::vector<std::string>> category;
  std::vector<std::string> thread;
  std::optional<StepRange> step;
  std::optional<TimeRange> time;
  // -1: no limit.
  int max_name_column_width =
      report::TableOptions().max_name_column_width.value_or(-1);
  int max_src_column_width =
      report::TableOptions().max_src_column_width.value_or(-1);
  int max_shapes_column_width =
      report::TableOptions().max_shapes_column_width.value_or(-1);
  std::string header;
  bool top_level_events_only = false;
  std::optional<std::string> time_unit;
  std::string importer;
  int64_t max_unpacked_mib = ImportOptions().max_unpacked_bytes >> 20;
};

const SettingTable<ReportFlags>& ReportFlagTable();

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_REPORT_FLAGS_H_
