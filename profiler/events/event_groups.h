// event_groups.h - events with one key, averaged: the work of key_averages().
//
//   KYMO_ASSIGN_OR_RETURN(
//       std::vector<FunctionEventAvg> averages,
//       AverageGroups(events, {.group_by_input_shape = true}));
//
// What is in the key is said in event_list.h. An event without a stack is
// grouped as one with an empty stack.
//
// Cost: one hash probe per event; linear in the sizes of what is in the key.
#ifndef KYMO_PROFILER_EVENTS_EVENT_GROUPS_H_
#define KYMO_PROFILER_EVENTS_EVENT_GROUPS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/events/function_event.h"
#include "profiler/events/function_event_avg.h"

namespace kymo {

struct KeyAveragesOptions {
  bool group_by_input_shape = false;
  size_t group_by_stack_n = 0;  // innermost entries; 0: not by stack
  bool group_by_overload_name = false;
  bool include_python_functions = false;  // frames of a host language
};

absl::StatusOr<std::vector<FunctionEventAvg>> AverageGroups(
    std::span<const FunctionEvent> events, const KeyAveragesOptions& options);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_EVENT_GROUPS_H_
