// event_list.h - the events of a recording, and PyTorch's results of them.
//
//   std::vector<kymo::FunctionEvent> function_events(3);
//   kymo::EventList events(std::move(function_events),
//                          {.use_device = "cuda"});
//   absl::Status status = events.build_tree();
//   for (const kymo::FunctionEvent& event : events) {
//     Print(event.name, event.self_cpu_time_total());
//   }
//   status.Update(events.key_averages({.group_by_stack_n = 5}).status());
//   status.Update(events.export_stacks("stacks.txt"));
//   std::cout << events;   // the table
//
// Usually Profile::events() returns the list. Names and results are those of
// EventList in PyTorch 2.15, to the last digit. 2.14 gives the same.
//
// key_averages() makes groups. The members of a group have the same name, node
// and kind of device, and the same is_legacy and is_user_annotation. Groups
// stand in the order of their first events. A group holds asynchronous and
// synchronous events; the first one decides as which it counts. The self time
// of an operation lacks the language frames below it, even where the averages
// leave frames out. So shares can exceed 100 %.
//
// Threads: immutable after build_tree().
// Errors:  before build_tree() events have no children, and key_averages() is
//   kFailedPrecondition. A result that needs the device time of an event is
//   kFailedPrecondition if that kind of device has none.
// Cost:    linear, except for sorting.
#ifndef KYMO_PROFILER_EVENTS_EVENT_LIST_H_
#define KYMO_PROFILER_EVENTS_EVENT_LIST_H_

#include <cstddef>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/events/averages/event_averages.h"
#include "profiler/events/averages/event_groups.h"
#include "profiler/events/averages/function_event_avg.h"
#include "profiler/events/event_tree.h"
#include "profiler/events/function_event.h"
#include "profiler/report/table.h"

namespace kymo {

class EventList {
 public:
  EventList() = default;
  explicit EventList(std::vector<FunctionEvent> events,
                     EventListOptions options = {})
      : events_(std::move(events)), options_(std::move(options)) {}

  // Finds parents, merges duplicates (or keeps them) and gives backward events
  // their stacks (event_tree.h). Call it once; a second call is
  // kFailedPrecondition.
  absl::Status build_tree(
      analysis::Duplicates duplicates = analysis::Duplicates::kMerge,
      NestingOrder order = NestingOrder::kLongerFirst);
  bool tree_built() const noexcept { return tree_built_; }

  // The events of several lists, one list after the other, with their trees. No
  // event is nested in one of another list. The options are the first list's.
  static EventList Concatenate(std::span<const EventList* const> lists);

  size_t size() const noexcept { return events_.size(); }
  bool empty() const noexcept { return events_.empty(); }
  auto begin() const noexcept { return events_.begin(); }
  auto end() const noexcept { return events_.end(); }
  const FunctionEvent& operator[](size_t i) const { return events_[i]; }

  const EventListOptions& options() const noexcept { return options_; }
  const std::optional<std::string>& use_device() const noexcept {
    return options_.use_device;
  }
  bool profile_memory() const noexcept { return options_.profile_memory; }
  bool with_flops() const noexcept { return options_.with_flops; }

  // The sum over all events in microseconds, language frames included.
  double self_cpu_time_total() const;

  // Averages by name, and by what `options` add to the key.
  absl::StatusOr<EventAverages> key_averages(
      const KeyAveragesOptions& options = {}) const;

  // One average of all events, named "Total". Its totals count the time of
  // nested events several times. It has the description of the last event.
  absl::StatusOr<FunctionEventAvg> total_average() const;

  // PyTorch's table (event_table.h). The list's own use_device, profile_memory
  // and with_flops replace those of `options`.
  absl::StatusOr<std::string> table(report::TableOptions options = {}) const;

  // A Chrome trace (chrome_trace.h) to a file, to a stream or as a text. It is
  // never compressed.
  absl::Status export_chrome_trace(const std::string& path) const;
  void export_chrome_trace(std::ostream& out) const;
  std::string chrome_trace() const;

  // Folded stacks (folded_stacks.h). kInvalidArgument for an unknown metric.
  absl::Status export_stacks(
      const std::string& path,
      std::string_view metric = "self_cpu_time_total") const;
  absl::StatusOr<std::string> folded_stacks(
      std::string_view metric = "self_cpu_time_total") const;

 private:
  absl::Status CheckDeviceTimes() const;

  std::vector<FunctionEvent> events_;
  EventListOptions options_;
  bool tree_built_ = false;
};

// Python's repr() of the list: "[<FunctionEvent id=1 ...>, ...]" on one line.
std::string ToString(const EventList& events);
// Python's str() of the list: its table, or the text of the error.
std::ostream& operator<<(std::ostream& out, const EventList& events);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_EVENT_LIST_H_
