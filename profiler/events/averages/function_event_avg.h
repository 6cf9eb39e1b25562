// function_event_avg.h - the sums over one group of events.
//
//   kymo::FunctionEvent event;
//   event.name = "matmul";
//   kymo::FunctionEventAvg sum;
//   absl::Status status = sum.add(event);
//   status.Update(sum.add(event));
//   Print(sum.key, sum.count, sum.cpu_time());   // "matmul", 2, us per call
//
// Units:   times are microseconds, memory is bytes.
// Sums:    add() adds doubles in the order of the calls, as PyTorch does. So
//   the last digits of a sum depend on that order.
// Threads: a value. Errors: see add().
#ifndef KYMO_PROFILER_EVENTS_AVERAGES_FUNCTION_EVENT_AVG_H_
#define KYMO_PROFILER_EVENTS_AVERAGES_FUNCTION_EVENT_AVG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "profiler/events/function_event.h"

namespace kymo {

struct FunctionEventAvg {
  // Whether key and description are set. The first add() sets them.
  bool has_key = false;

  // The description, which is that of the group's first event.
  std::string key;
  std::string overload_name;  // empty: none, or not part of the key
  // "[[64, 32], []]"; "None" for an event without shapes. Empty: not part of
  // the key.
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
  std::optional<double> wait_time_total;  // Kymo's own; none: not recorded

  // Microseconds per call; 0 without calls.
  double cpu_time() const noexcept;
  double device_time() const noexcept;

  // Adds an event or an average. kInvalidArgument if the keys differ;
  // kFailedPrecondition if CheckDeviceTime() refuses the event. An error
  // changes nothing.
  absl::Status add(const FunctionEvent& event);
  absl::Status add(const FunctionEventAvg& average);

  // The two parts of add(). Describe takes the key and the description.
  // AddTotals adds the totals and does not compare keys.
  void Describe(const FunctionEvent& event);
  void Describe(const FunctionEventAvg& average);
  void AddTotals(const FunctionEvent& event);
  void AddTotals(const FunctionEventAvg& average);
};

// PyTorch's text of an average, one line. Both give the same text.
std::string ToString(const FunctionEventAvg& average);
std::ostream& operator<<(std::ostream& out, const FunctionEventAvg& average);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_AVERAGES_FUNCTION_EVENT_AVG_H_
