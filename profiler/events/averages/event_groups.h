// event_groups.h - events with the same key, averaged.
//
//   std::vector<kymo::FunctionEvent> events(2);
//   absl::StatusOr<std::vector<kymo::FunctionEventAvg>> averages =
//       kymo::AverageGroups(events, {.group_by_input_shape = true});
//
// This is the work of EventList::key_averages(); event_list.h says what is in a
// key. An event without a stack has the key of one with an empty stack.
//
// Threads: any. Errors: those of FunctionEventAvg::add.
// Cost:    one hash look-up for each event, and time linear in the size of
//   keys.
#ifndef KYMO_PROFILER_EVENTS_AVERAGES_EVENT_GROUPS_H_
#define KYMO_PROFILER_EVENTS_AVERAGES_EVENT_GROUPS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/events/averages/function_event_avg.h"
#include "profiler/events/function_event.h"

namespace kymo {

// The parts of an average's key besides the name.
struct KeyAveragesOptions {
  bool group_by_input_shape = false;
  size_t group_by_stack_n = 0;  // this many innermost entries; 0: no stack
  bool group_by_overload_name = false;
  bool include_python_functions = false;  // frames of a host language
};

// The averages, in the order of the first event of each group.
absl::StatusOr<std::vector<FunctionEventAvg>> AverageGroups(
    std::span<const FunctionEvent> events, const KeyAveragesOptions& options);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_AVERAGES_EVENT_GROUPS_H_
