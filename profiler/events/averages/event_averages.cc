#include "profiler/events/averages/event_averages.h"

#include <sstream>

#include "profiler/base/status_macros.h"
#include "profiler/events/averages/event_table.h"
#include "profiler/events/compensated_sum.h"
#include "profiler/events/folded_stacks.h"
#include "profiler/events/output_file.h"

namespace kymo {

double EventAverages::self_cpu_time_total() const {
  CompensatedSum sum;
  for (const FunctionEventAvg& a : averages_) sum.Add(a.self_cpu_time_total);
  return sum.Total();
}

FunctionEventAvg EventAverages::total_average() const {
  FunctionEventAvg total;
  for (const FunctionEventAvg& average : averages_) total.AddTotals(average);
  if (!averages_.empty()) total.Describe(averages_.back());
  total.has_key = true;
  total.key = "Total";
  return total;
}

absl::StatusOr<std::string> EventAverages::table(
    report::TableOptions options) const {
  return FormatEventTable(averages_, options_, std::move(options));
}

absl::Status EventAverages::export_stacks(const std::string& path,
                                          std::string_view metric) const {
  KYMO_ASSIGN_OR_RETURN(const StackMetric parsed, ParseStackMetric(metric));
  return WriteOutputFile(path, [&](std::ostream& out) {
    WriteFoldedStacks(averages_, parsed, out);
  });
}

absl::StatusOr<std::string> EventAverages::folded_stacks(
    std::string_view metric) const {
  KYMO_ASSIGN_OR_RETURN(const StackMetric parsed, ParseStackMetric(metric));
  std::ostringstream out;
  WriteFoldedStacks(averages_, parsed, out);
  return std::move(out).str();
}

std::string ToString(const EventAverages& averages) {
  std::string text = "[";
  for (const FunctionEventAvg& average : averages) {
    if (text.size() > 1) text += ", ";
    text += ToString(average);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const EventAverages& averages) {
  const absl::StatusOr<std::string> table = averages.table();
  return out << (table.ok() ? *table : table.status().ToString());
}

}  // namespace kymo
