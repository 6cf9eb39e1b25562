// function_event.h - one profiled event, with PyTorch's fields and values.
//
//   for (const FunctionEvent& e : events) {
//     std::cout << e.name << " " << e.self_cpu_time_total() << " us\n";
//     if (e.stack != nullptr) Print(*e.stack);
//     if (e.cpu_parent) std::cout << "in " << events[*e.cpu_parent].name;
//   }
//
// An EventList (event_list.h) holds the events; building its tree sets
// cpu_parent, cpu_children and child_totals. Until then an event counts as one
// without children.
//
// Units:   times are microseconds since the start of the recording, memory is
//   bytes, with those of the children included.
// Not here: the percentages that PyTorch writes into events while it prints a
//   table, the deprecated cuda_* names, and the X_str forms, which are
//   FormatTime(X) (format.h).
// Of an asynchronous event the self times and device times are 0, but
// cpu_time_total() is its whole duration; that of a legacy event the device
// total leaves out the children, while its self time still subtracts them and
// can be negative. So it is in PyTorch.
#ifndef KYMO_PROFILER_EVENTS_FUNCTION_EVENT_H_
#define KYMO_PROFILER_EVENTS_FUNCTION_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiler/base/record_scope.h"
#include "profiler/events/device_type.h"

namespace kymo {

struct Interval {
  double start_us = 0;
  double end_us = 0;

  double elapsed_us() const noexcept { return end_us - start_us; }

  friend bool operator==(const Interval&, const Interval&) = default;
};

// Work on a device that a CPU event started.
struct Kernel {
  std::string name;
  int64_t device_index = 0;
  double duration_us = 0;

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

using InputShapes = std::vector<std::vector<int64_t>>;  // sizes, per input
using EventStack = std::vector<std::string>;            // innermost first

// What few events have and fewer readers ask for.
struct EventDetails {
  std::vector<std::string> concrete_inputs;     // "None", "[64, 32]", "0.5"
  std::map<std::string, std::string> kwinputs;  // by keyword
  std::vector<std::string> input_dtypes;        // "float"
  std::string structured_input_shapes;          // JSON, tensor lists nested
  std::string structured_input_strides;
  std::vector<std::string> module_hierarchy;  // outermost first
};

// Sums over the direct children.
struct ChildTotals {
  double cpu_time_us = 0;
  double device_time_us = 0;
  int64_t cpu_memory_bytes = 0;
  int64_t device_memory_bytes = 0;
};

struct FunctionEvent {
  // CPU and device events draw from different numbers, and frames of a
  // language are all 0: unique only among CPU operations.
  int64_t id = 0;
  std::string name;  // to show; also the key of averages
  std::optional<std::string> overload_name;
  std::optional<std::string> trace_name;  // as in traces
  Interval time_range;
  int64_t thread = 0;  // logical; where the event started
  // Of the forward operation, for a backward one.
  std::optional<int64_t> fwd_thread;
  int32_t node_id = -1;  // of a distributed program
  DeviceType device_type = DeviceType::kCpu;
  RecordScope scope = RecordScope::kFunction;
  bool is_async = false;  // ended on another thread, or said so
  bool is_remote = false;
  bool is_legacy = false;  // device time stands in kernels
  bool is_user_annotation = false;
  bool is_python_function = false;  // a frame of a host language
  int64_t count = 1;
  int64_t sequence_nr = -1;
  // Of host events the process id, of device events the device's number.
  int64_t device_index = 0;
  // Stream of a device event; by default `thread`.
  std::optional<int64_t> device_resource_id;
  std::optional<std::string> use_device;  // lower case: "cuda"
  int64_t cpu_memory_usage = 0;
  int64_t device_memory_usage = 0;
  std::optional<int64_t> flops;
  std::vector<Kernel> kernels;

  // Shared between events, null = none.
  std::shared_ptr<const InputShapes> input_shapes;
  std::shared_ptr<const EventStack> stack;
  std::shared_ptr<const EventDetails> details;

  // The tree, as positions in the list.
  std::optional<size_t> cpu_parent;
  std::vector<size_t> cpu_children;  // in start order
  ChildTotals child_totals;

  // Each is kFailedPrecondition where a CPU event is expected and not given.
  absl::Status append_kernel(Kernel kernel);
  absl::Status append_cpu_child(size_t position, const FunctionEvent& child);
  absl::Status set_cpu_parent(size_t position, const FunctionEvent& parent);

  // Microseconds. The first two are 0 unless the event is of the CPU.
  double cpu_time_total() const noexcept;
  double self_cpu_time_total() const noexcept;
  // Kernels and children of a CPU event, duration of a device event; 0 without
  // use_device. CheckDeviceTime() tells when the 0 stands for an error.
  double device_time_total() const noexcept;
  double self_device_time_total() const noexcept;
  // Per call.
  double cpu_time() const noexcept;
  double device_time() const noexcept;

  int64_t self_cpu_memory_usage() const noexcept;
  int64_t self_device_memory_usage() const noexcept;

  // kFailedPrecondition for an event of a device whose events carry no device
  // time (HasDeviceTime), though use_device is set.
  absl::Status CheckDeviceTime() const;
};

// PyTorch's text of an event, on one line; `events` is the list it is in.
std::string ToString(const FunctionEvent& event,
                     std::span<const FunctionEvent> events);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_FUNCTION_EVENT_H_
