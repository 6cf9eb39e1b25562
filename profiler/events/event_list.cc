#include "profiler/events/event_list.h"

#include <sstream>

#include "profiler/base/status_macros.h"
#include "profiler/events/averages/event_table.h"
#include "profiler/events/chrome_trace.h"
#include "profiler/events/compensated_sum.h"
#include "profiler/events/event_tree.h"
#include "profiler/events/folded_stacks.h"
#include "profiler/events/output_file.h"

namespace kymo {

absl::Status EventList::build_tree(analysis::Duplicates duplicates,
                                   NestingOrder order) {
  if (tree_built_) {
    return absl::FailedPreconditionError("the tree is built already");
  }
  KYMO_RETURN_IF_ERROR(BuildEventTree(events_, duplicates, order));
  tree_built_ = true;
  return absl::OkStatus();
}

absl::Status EventList::CheckDeviceTimes() const {
  for (const FunctionEvent& event : events_) {
    KYMO_RETURN_IF_ERROR(event.CheckDeviceTime());
  }
  return absl::OkStatus();
}

EventList EventList::Concatenate(std::span<const EventList* const> lists) {
  EventList all;
  if (lists.empty()) return all;
  all.options_ = lists.front()->options_;
  all.tree_built_ = true;
  for (const EventList* const list : lists) {
    const size_t first = all.events_.size();
    all.tree_built_ = all.tree_built_ && list->tree_built_;
    for (FunctionEvent event : list->events_) {
      if (event.cpu_parent) *event.cpu_parent += first;
      for (size_t& child : event.cpu_children) child += first;
      all.events_.push_back(std::move(event));
    }
  }
  return all;
}

double EventList::self_cpu_time_total() const {
  CompensatedSum sum;
  for (const FunctionEvent& e : events_) sum.Add(e.self_cpu_time_total());
  return sum.Total();
}

absl::StatusOr<EventAverages> EventList::key_averages(
    const KeyAveragesOptions& options) const {
  if (!tree_built_) {
    return absl::FailedPreconditionError(
        "Expected tree to be built before calling key_averages");
  }
  KYMO_ASSIGN_OR_RETURN(std::vector<FunctionEventAvg> averages,
                        AverageGroups(events_, options));
  return EventAverages(std::move(averages), options_);
}

absl::StatusOr<FunctionEventAvg> EventList::total_average() const {
  FunctionEventAvg total;
  KYMO_RETURN_IF_ERROR(CheckDeviceTimes());
  for (const FunctionEvent& event : events_) total.AddTotals(event);
  if (!events_.empty()) total.Describe(events_.back());
  total.has_key = true;
  total.key = "Total";
  return total;
}

absl::StatusOr<std::string> EventList::table(
    report::TableOptions options) const {
  return FormatEventTable(events_, options_, std::move(options));
}

absl::Status EventList::export_chrome_trace(const std::string& path) const {
  return WriteOutputFile(path,
                         [&](std::ostream& out) { export_chrome_trace(out); });
}

void EventList::export_chrome_trace(std::ostream& out) const {
  WriteChromeTrace(events_, options_.use_device, out);
}

std::string EventList::chrome_trace() const {
  std::ostringstream out;
  export_chrome_trace(out);
  return std::move(out).str();
}

absl::Status EventList::export_stacks(const std::string& path,
                                      std::string_view metric) const {
  KYMO_ASSIGN_OR_RETURN(const StackMetric parsed, ParseStackMetric(metric));
  KYMO_RETURN_IF_ERROR(CheckDeviceTimes());
  return WriteOutputFile(path, [&](std::ostream& out) {
    WriteFoldedStacks(events_, parsed, out);
  });
}

absl::StatusOr<std::string> EventList::folded_stacks(
    std::string_view metric) const {
  KYMO_ASSIGN_OR_RETURN(const StackMetric parsed, ParseStackMetric(metric));
  KYMO_RETURN_IF_ERROR(CheckDeviceTimes());
  std::ostringstream out;
  WriteFoldedStacks(events_, parsed, out);
  return std::move(out).str();
}

std::string ToString(const EventList& events) {
  const std::span<const FunctionEvent> all(events.begin(), events.end());
  std::string text = "[";
  for (const FunctionEvent& event : all) {
    if (text.size() > 1) text += ", ";
    text += ToString(event, all);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const EventList& events) {
  const absl::StatusOr<std::string> table = events.table();
  return out << (table.ok() ? *table : table.status().ToString());
}

}  // namespace kymo
