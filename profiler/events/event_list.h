// event_list.h - the events of a recording, and what PyTorch computes of them.
//
//   EventList events(std::move(function_events), {.use_device = "cuda"});
//   KYMO_RETURN_IF_ERROR(events.build_tree());
//   for (const FunctionEvent& e : events) {
//     std::cout << e.name << " " << e.self_cpu_time_total() << "\n";
//   }
//   KYMO_ASSIGN_OR_RETURN(const EventAverages averages,
//                         events.key_averages({.group_by_stack_n = 5}));
//   KYMO_RETURN_IF_ERROR(events.export_stacks("stacks.txt"));
//
// Names and results are those of PyTorch's EventList, version 2.14, last digits
// included. ConvertRawEvents (raw_events.h) makes one from what was recorded.
//
// Groups of key_averages() stand in the order of their first events; members
// share name, node, kind of device, and whether they are legacy and user
// annotations. Asynchronous events are averaged with synchronous ones of their
// name, and the first decides which they count as. In the self time of an
// operation the language frames below it are missing even where the averages
// leave the frames out, so shares can exceed 100 %.
//
// Errors:  results before build_tree() are those of events without children;
//   key_averages() then is kFailedPrecondition, and so is any result that needs
//   the device time of an event whose kind of device has none.
// Threads: build_tree() aside, immutable.
// Cost:    linear, sorting aside.
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
#include "profiler/events/event_averages.h"
#include "profiler/events/event_groups.h"
#include "profiler/events/function_event.h"
#include "profiler/events/function_event_avg.h"
#include "profiler/report/table.h"

namespace kymo {

class EventList {
 public:
  EventList() = default;
  explicit EventList(std::vector<FunctionEvent> events,
                     EventListOptions options = {})
      : events_(std::move(events)), options_(std::move(options)) {}

  // Finds parents, merges duplicates, gives backward events their stacks
  // (event_tree.h). Once; a second time is kFailedPrecondition.
  absl::Status build_tree();
  bool tree_built() const noexcept { return tree_built_; }

  // The events of several lists one after the other, with their trees; the
  // options are the first one's. Nothing is nested across lists.
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

  // Over all events, language frames included.
  double self_cpu_time_total() const;

  absl::StatusOr<EventAverages> key_averages(
      const KeyAveragesOptions& options = {}) const;

  // One average of all events, named "Total". Nested time counts repeatedly in
  // its totals; its description is that of the last event.
  absl::StatusOr<FunctionEventAvg> total_average() const;

  // PyTorch's table (event_table.h); use_device, profile_memory and with_flops
  // of `options` are replaced by the list's.
  absl::StatusOr<std::string> table(report::TableOptions options = {}) const;

  // The form of chrome_trace.h, to a file (never compressed), a stream, or as
  // a text.
  absl::Status export_chrome_trace(const std::string& path) const;
  void export_chrome_trace(std::ostream& out) const;
  std::string chrome_trace() const;

  // The form of folded_stacks.h. kInvalidArgument for an unknown metric.
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

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_EVENT_LIST_H_
