#include "tools/report_command/large_recording.h"

#include <array>
#include <fstream>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/raw/raw_file.h"
#include "backends/cpu/trace_memory.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/base/status_macros.h"
#include "profiler/report/table.h"
#include "tools/report_command/row_source.h"
#include "tools/report_command/sum_windows.h"

namespace kymo::tools {
namespace {

using analysis::WindowSums;

bool IsRawFile(const std::string& path) {
  std::array<char, 8> head = {};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return file.good() &&
         cpu::BeginsLikeRawFile(std::string_view(head.data(), head.size()));
}

std::string Setting(const ReportCommand& command, const std::string& name,
                    const char* otherwise) {
  const auto it = command.settings.find(name);
  return it == command.settings.end() ? otherwise : it->second;
}

// Memory that a whole trace may take.
absl::StatusOr<uint64_t> LimitOf(const ReportCommand& command) {
  return cpu::MemoryLimit(Setting(command, "max_memory", ""));
}

// What of the command needs the whole trace; empty: nothing.
std::string NeedsAll(const ReportCommand& command) {
  if (command.check) return "--check";
  if (!command.analyses.empty()) return "--analysis";
  if (!command.filter.empty()) return "choosing events";
  const KeyAveragesOptions& grouping = command.rows.grouping;
  if (command.rows.single_events || grouping.group_by_overload_name ||
      grouping.group_by_input_shape || grouping.group_by_stack_n != 0 ||
      grouping.include_python_functions) {
    return "grouping by more than names";
  }
  if (command.rows.with_flops) return "--with_flops";
  if (command.format == TextFormat::kJson) return "--format=json";
  for (const std::string& exporter : command.exporters) {
    if (exporter != "stacks") return "--export=" + exporter;
  }
  if (command.exporters.empty()) return "";
  const std::string formats = Setting(command, "formats", "folded");
  if (formats != "folded") return "--formats=" + formats;
  if (Setting(command, "metric", "weight") != "weight") return "--metric";
  if (Setting(command, "threads", "0") != "0") return "--threads";
  return "";
}

absl::Status CheckCommand(const ReportCommand& command,
                          const cpu::RawWindows& windows) {
  const std::string needs_all = NeedsAll(command);
  if (needs_all.empty()) return absl::OkStatus();
  constexpr uint64_t kMib = uint64_t{1} << 20;
  KYMO_ASSIGN_OR_RETURN(const uint64_t limit, LimitOf(command));
  return absl::FailedPreconditionError(absl::StrCat(
      needs_all, " needs the whole trace, which takes ",
      cpu::TraceMemoryBytes(windows.chunk_bytes()) / kMib, " MiB of memory (",
      windows.chunk_bytes() / kMib, " MiB of records); ", limit / kMib,
      " MiB may be used. Part by part this command can make the table by name, "
      "as text or CSV, and --export=stacks. Try a machine with more memory, a "
      "shorter recording, or --windows=never"));
}

absl::StatusOr<std::string> TableOf(const WindowSums& sums,
                                    const ReportCommand& command) {
  TraceRows rows;
  rows.rows = report::TableRows(sums.Averages());
  report::TableOptions table = OptionsFor(rows, command.table);
  if (table.sort_by == "auto") table.sort_by = "self_cpu_time_total";
  if (command.format == TextFormat::kText) {
    return report::FormatTable(rows.rows, table);
  }
  KYMO_ASSIGN_OR_RETURN(const DataTable data, RowData(rows, table));
  return data.Csv();
}

}  // namespace

absl::StatusOr<std::unique_ptr<cpu::RawWindows>> OpenInWindows(
    const ReportCommand& command) {
  const std::string when = Setting(command, "windows", "auto");
  if (when != "auto" && when != "always" && when != "never") {
    return absl::InvalidArgumentError(absl::StrCat(
        "windows is '", when, "'; it takes one of: always, auto, never"));
  }
  if (when == "never" || command.diff || command.files.size() != 1 ||
      !IsRawFile(command.files[0])) {
    return nullptr;
  }
  KYMO_ASSIGN_OR_RETURN(const uint64_t limit, LimitOf(command));
  KYMO_ASSIGN_OR_RETURN(
      std::unique_ptr<cpu::RawWindows> windows,
      cpu::RawWindows::Open(command.files[0], cpu::WindowBytesFor(limit)));
  const bool fits = cpu::TraceMemoryBytes(windows->chunk_bytes()) <= limit;
  if (when == "auto" && fits) return nullptr;
  return windows;
}

absl::StatusOr<WindowReport> ReportInWindows(const ReportCommand& command,
                                             cpu::RawWindows& windows) {
  KYMO_RETURN_IF_ERROR(CheckCommand(command, windows));
  KYMO_ASSIGN_OR_RETURN(SummedWindows summed, SumWindows(windows));
  WindowReport report;
  KYMO_ASSIGN_OR_RETURN(report.table, TableOf(summed.sums, command));
  if (!command.exporters.empty()) report.stacks = FoldPaths(summed.sums);
  report.ledger = summed.sums.ledger();
  report.notes = std::move(summed.notes);
  return report;
}

}  // namespace kymo::tools
