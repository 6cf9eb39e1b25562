// function_event.h - one profiled event, with PyTorch's fields and values.
//
//   kymo::FunctionEvent event;
//   event.name = "matmul";
//   event.time_range = {.start_us = 0, .end_us = 4};
//   Print(event.name, event.self_cpu_time_total());   // "matmul", 4 us
//   if (event.stack != nullptr) Print(event.stack->front());
//
// An EventList (event_list.h) holds the events. Building its tree sets
// cpu_parent, cpu_children and child_totals. Before that, an event counts as
// one without children.
//
// Units:    times are microseconds since the start of the recording. Memory is
//   bytes; the memory of an event includes that of its children.
// Missing:  the percentages that PyTorch writes into events while it prints a
//   table, and the deprecated cuda_* names. X_str is FormatTime(X) (format.h).
// As in PyTorch, an asynchronous event has self times and device times of 0,
// but its cpu_time_total() is its whole duration. The device total of a legacy
// event leaves out the children. Its self time still subtracts them and can be
// negative. A marker (is_marker) lists the kernels of its children, too, so its
// device total is the sum of `kernels` alone.
// Threads:  a value. Errors: kFailedPrecondition, see the functions.
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

// A time range in microseconds since the start of the recording.
struct Interval {
  double start_us = 0;
  double end_us = 0;

  double elapsed_us() const noexcept { return end_us - start_us; }

  friend bool operator==(const Interval&, const Interval&) = default;
};

// A piece of device work that a CPU event started.
struct Kernel {
  std::string name;
  int64_t device_index = 0;
  double duration_us = 0;

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

using InputShapes = std::vector<std::vector<int64_t>>;  // sizes, per input
using EventStack = std::vector<std::string>;            // innermost first

// Fields that few events have and few readers need.
struct EventDetails {
  std::vector<std::string> concrete_inputs;     // "None", "[64, 32]", "0.5"
  std::map<std::string, std::string> kwinputs;  // by keyword
  std::vector<std::string> input_dtypes;        // "float"
  std::string structured_input_shapes;          // JSON, tensor lists nested
  std::string structured_input_strides;
  std::vector<std::string> module_hierarchy;  // outermost first
};

// Sums over the direct children of an event.
struct ChildTotals {
  double cpu_time_us = 0;
  double device_time_us = 0;
  int64_t cpu_memory_bytes = 0;
  int64_t device_memory_bytes = 0;
};

struct FunctionEvent {
  // Unique among CPU operations. Device events have numbers of their own, and
  // frames of a host language all have 0.
  int64_t id = 0;
  std::string name;  // for people; also the key of averages
  std::optional<std::string> overload_name;
  std::optional<std::string> trace_name;  // the name in traces
  Interval time_range;
  int64_t thread = 0;  // logical id of the thread that started the event
  // Backward operations only: the thread of the forward operation.
  std::optional<int64_t> fwd_thread;
  int32_t node_id = -1;  // of a distributed program
  DeviceType device_type = DeviceType::kCpu;
  RecordScope scope = RecordScope::kFunction;
  bool is_async = false;  // ended on another thread, or was declared so
  bool is_remote = false;
  bool is_legacy = false;  // `kernels` has the device time
  bool is_marker = false;  // `kernels` has all that was launched within it
  bool is_user_annotation = false;
  bool is_python_function = false;  // a frame of a host language
  int64_t count = 1;
  int64_t sequence_nr = -1;
  // The process id of a host event, the device's number of a device event.
  int64_t device_index = 0;
  // The stream of a device event; without a value it is `thread`.
  std::optional<int64_t> device_resource_id;
  std::optional<std::string> use_device;  // lower case: "cuda"
  int64_t cpu_memory_usage = 0;
  int64_t device_memory_usage = 0;
  std::optional<int64_t> flops;
  // Kymo's own: for how long the thread waited in it, children included. None:
  // not recorded.
  std::optional<double> wait_time_total;
  std::vector<Kernel> kernels;

  // Events may share these; null: none.
  std::shared_ptr<const InputShapes> input_shapes;
  std::shared_ptr<const EventStack> stack;
  std::shared_ptr<const EventDetails> details;

  // The tree: positions in the list of events.
  std::optional<size_t> cpu_parent;
  std::vector<size_t> cpu_children;  // by start
  ChildTotals child_totals;

  // Each needs CPU events; otherwise it returns kFailedPrecondition.
  absl::Status append_kernel(Kernel kernel);
  absl::Status append_cpu_child(size_t position, const FunctionEvent& child);
  absl::Status set_cpu_parent(size_t position, const FunctionEvent& parent);

  // Microseconds; 0 for an event that is not of the CPU.
  double cpu_time_total() const noexcept;
  double self_cpu_time_total() const noexcept;
  // Microseconds. For a CPU event the time of its kernels and children, each
  // kernel once; for a device event its duration; and 0 without use_device.
  // CheckDeviceTime() says whether a 0 stands for an error.
  double device_time_total() const noexcept;
  double self_device_time_total() const noexcept;
  // Microseconds per call.
  double cpu_time() const noexcept;
  double device_time() const noexcept;

  int64_t self_cpu_memory_usage() const noexcept;
  int64_t self_device_memory_usage() const noexcept;

  // kFailedPrecondition if use_device is set, but events of this kind of device
  // carry no device time (HasDeviceTime).
  absl::Status CheckDeviceTime() const;
};

// PyTorch's text of an event, one line. `events` is the list that holds it.
std::string ToString(const FunctionEvent& event,
                     std::span<const FunctionEvent> events);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_FUNCTION_EVENT_H_
