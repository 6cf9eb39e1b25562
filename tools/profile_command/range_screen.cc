#include "tools/profile_command/range_screen.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/time.h"
#include "profiler/model/thread_states.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::tools {

using report::Fit;
using report::FittedRow;
using report::FittedTable;
using report::FormatBytes;
using report::FormatTime;
using report::ShareOrDash;

std::string ShortWaitsLine(const model::Trace& trace) {
  constexpr DurationNs kLeastPart = 20;
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr) return "";
  const auto has_ranges = [&](model::TrackIndex track) {
    return trace.track_begin(track) < trace.track_end(track);
  };
  DurationNs short_ns = 0;
  DurationNs on_cpu_ns = 0;
  for (const model::WaitSum& sum : states->short_waits) {
    if (has_ranges(sum.track)) short_ns += sum.duration_ns;
  }
  for (const model::ThreadTimes& times : states->threads) {
    if (has_ranges(times.track)) on_cpu_ns += times.on_cpu_ns;
  }
  if (short_ns == 0 || short_ns < on_cpu_ns / kLeastPart) return "";
  return absl::StrCat(
      "The CPU time of ranges has up to ",
      FormatTime(static_cast<double>(short_ns) / kNsPerUs, ""),
      " of short waits in it: there were too many to keep each\n");
}

FittedTable RangesTable(const ScreenTables& tables,
                        const std::vector<const report::TableRow*>& shown) {
  const bool with_device = !tables.use_device.empty();
  FittedTable fitted{.columns = {{.title = "Range", .fit = Fit::kName},
                                 {.title = "Self CPU %"},
                                 {.title = "Self CPU", .drop = 3},
                                 {.title = "CPU total", .drop = 1},
                                 {.title = "CPU time avg", .drop = 6}},
                     .rows = {}};
  if (with_device) {
    fitted.columns.push_back({.title = "Self Device"});
    fitted.columns.push_back({.title = "Device total", .drop = 4});
  }
  if (tables.profile_memory) {
    fitted.columns.push_back({.title = "Self CPU Mem", .drop = 5});
  }
  // By name. What a range did on its thread is told if its row is all of it.
  std::map<std::string_view, const analysis::RangeSplit*> waits;
  for (const analysis::RangeSplit& range : tables.range_waits) {
    waits[range.name] = &range;
  }
  const auto waits_of = [&](const report::TableRow& row) {
    const auto at = waits.find(row.key);
    return at == waits.end() ||
                   at->second->count != static_cast<uint64_t>(row.count)
               ? nullptr
               : at->second;
  };
  if (!waits.empty()) {
    fitted.columns.push_back({.title = "On CPU", .drop = 8});
    fitted.columns.push_back({.title = "Wait time"});
    fitted.columns.push_back({.title = "Wait %", .drop = 7});
  }
  fitted.columns.push_back({.title = "# of Calls", .drop = 2});
  double total_us = 0;
  double device_total_us = 0;
  for (const report::TableRow& row : tables.ranges) {
    total_us += row.self_cpu_time_total_us;
    // An operation has the time of its kernels, too.
    if (row.device == report::RowDevice::kCpu ? row.is_legacy
                                              : !row.is_user_annotation) {
      device_total_us += row.self_device_time_total_us;
    }
  }
  for (const report::TableRow* const row : shown) {
    FittedRow line{
        .cells = {VisibleText(row->key),
                  ShareOrDash(row->self_cpu_time_total_us, total_us),
                  FormatTime(row->self_cpu_time_total_us, ""),
                  FormatTime(row->cpu_time_total_us, ""),
                  FormatTime(row->count == 0
                                 ? 0
                                 : row->cpu_time_total_us /
                                       static_cast<double>(row->count),
                             "")},
        .share = total_us == 0 ? 0 : row->self_cpu_time_total_us / total_us};
    if (with_device) {
      line.cells.push_back(FormatTime(row->self_device_time_total_us, ""));
      line.cells.push_back(FormatTime(row->device_time_total_us, ""));
      if (device_total_us > 0) {
        line.share = std::max(line.share,
                              row->self_device_time_total_us / device_total_us);
      }
    }
    if (tables.profile_memory) {
      line.cells.push_back(FormatBytes(row->self_cpu_memory_usage_bytes));
    }
    if (!waits.empty()) {
      const analysis::RangeSplit* const split = waits_of(*row);
      const auto time = [&](DurationNs ns) {
        return FormatTime(static_cast<double>(ns) / kNsPerUs, "");
      };
      line.cells.push_back(split == nullptr ? "-" : time(split->on_cpu_ns));
      line.cells.push_back(split == nullptr ? "-" : time(split->wait_ns()));
      line.cells.push_back(
          split == nullptr
              ? "-"
              : ShareOrDash(static_cast<double>(split->wait_ns()),
                            static_cast<double>(split->duration_ns)));
    }
    line.cells.push_back(std::to_string(row->count));
    fitted.rows.push_back(std::move(line));
  }
  return fitted;
}

}  // namespace kymo::tools
