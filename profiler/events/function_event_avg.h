// function_event_avg.h - what the events of one group took together.
//
//   FunctionEventAvg sum;
//   for (const FunctionEvent& e : events) KYMO_RETURN_IF_ERROR(sum.add(e));
//   std::cout << sum.key << ": " << sum.cpu_time() << " us per call\n";
//
// Totals are added plainly, in the order of the calls, as PyTorch does: the
// last bits of a sum depend on it.
//
// Units: microseconds, bytes.
#ifndef KYMO_PROFILER_EVENTS_FUNCTION_EVENT_AVG_H_
#define KYMO_PROFILER_EVENTS_FUNCTION_EVENT_AVG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "profiler/events/function_event.h"

namespace kymo {

struct FunctionEventAvg {
  // Whether key and description come from an event yet; the first add() takes
  // them.
  bool has_key = false;

  // Description: of the group's first event.
  std::string key;
  std::string overload_name;  // empty: none, or not grouped by it
  // "[[64, 32], []]"; "None" for an event without; empty: not grouped by it.
  std::string input_shapes;
  EventStack stack;  // innermost first
  int32_t node_id = 0;
  DeviceType device_type = DeviceType::kCpu;
  std::optional<RecordScope> scope;
  bool is_async = false;
  bool is_remote = false;
  bool is_legacy = false;
  bool is_user_annotation = false;
  std::optional<std::string> use_device;
  std::optional<size_t> cpu_parent;  // position in the list of events

  int64_t count = 0;
  double cpu_time_total = 0;
  double self_cpu_time_total = 0;
  double device_time_total = 0;
  double self_device_time_total = 0;
  int64_t cpu_memory_usage = 0;
  int64_t self_cpu_memory_usage = 0;
  int64_t device_memory_usage = 0;
  int64_t self_device_memory_usage = 0;
  int64_t flops = 0;

  // Per call; 0 if there are none.
  double cpu_time() const noexcept;
  double device_time() const noexcept;

  // kInvalidArgument if the keys differ; kFailedPrecondition for an event that
  // CheckDeviceTime() refuses. On errors nothing changes.
  absl::Status add(const FunctionEvent& event);
  absl::Status add(const FunctionEventAvg& average);

  // The parts of add(): takes the key and description; adds the totals,
  // whatever the key.
  void Describe(const FunctionEvent& event);
  void Describe(const FunctionEventAvg& average);
  void AddTotals(const FunctionEvent& event);
  void AddTotals(const FunctionEventAvg& average);
};

// PyTorch's text of an average, on one line.
std::string ToString(const FunctionEventAvg& average);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_FUNCTION_EVENT_AVG_H_
