// key_averages.h - what the events of each name took together.
//
//   for (const KeyAverage& row : KeyAverages(trace)) {
//     Print(row.name, row.count, row.self_cpu_time_total_ns);
//   }
//
//   KeyAverages(trace, {.by_input_shapes = true, .by_stack_n = 5});
//
// PyTorch's key_averages(), except that duplicates stay unless you ask
// otherwise. Events are grouped by name, by device (thread or stream) and by
// whether they are user annotations; "ProfilerStep#7" counts as
// "ProfilerStep*". On request they are also grouped by overload, by the sizes
// of the input tensors and by the innermost frames of their stacks.
//
// Instants and counters are left out. Frames and modules of the program
// (kPythonFunction) are left out, too, unless you ask for them; their time is
// missing from the self time of the ranges around them. Groups are in the order
// of their first event in the whole trace, where events are sorted by (start,
// longer first, index).
//
// A trace may be one window of a larger trace. Its repeated events
// (kEventRepeated) do not count, but their children's time is still subtracted
// from their self time. A group that has only repeated events has count 0 and a
// self time below 0: see window_sums.h.
//
// CPU times are the times of threads. A group's total sums whole durations, so
// nested events of one name count repeatedly. Its self time is the sum of the
// events' self times: durations without those of direct children. Ranges of
// device streams count as device time.
//
// Cost: one linear pass over names, times and parents, in parallel. Grouping by
//   overload, shapes or stack also reads the details and takes one hash probe
//   per event. All sums are integers, so the result does not depend on the
//   number of threads.
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/analysis/averages/duplicates.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// One group.
struct KeyAverage {
  std::string name;
  bool is_user_annotation = false;
  bool is_device = false;  // on a device stream
  bool is_async = false;   // whether the first event is
  bool is_python_function = false;
  model::EventIndex first_event = model::kNoEvent;

  // Filled where the options group by it; else empty.
  std::string overload_name;
  std::string input_shapes;  // "[[64, 32], []]"
  // A stack that begins with the group's `by_stack_n` innermost frames.
  model::StackId stack = model::kEmptyStack;

  int64_t count = 0;
  DurationNs cpu_time_total_ns = 0;
  DurationNs self_cpu_time_total_ns = 0;
  DurationNs device_time_total_ns = 0;
  DurationNs self_device_time_total_ns = 0;
  DurationNs min_ns = 0;  // shortest and longest event
  DurationNs max_ns = 0;

  // Sums of the columns in KeyAveragesOptions. Self: without direct children.
  int64_t cpu_memory_usage_bytes = 0;
  int64_t self_cpu_memory_usage_bytes = 0;
  int64_t device_memory_usage_bytes = 0;
  int64_t self_device_memory_usage_bytes = 0;
  int64_t flops = 0;
  std::optional<DurationNs> wait_time_total_ns;  // none: not recorded

  friend bool operator==(const KeyAverage&, const KeyAverage&) = default;
};

struct KeyAveragesOptions {
  Duplicates duplicates = Duplicates::kKeep;
  bool by_overload_name = false;
  bool by_input_shapes = false;
  // How many innermost frames (file, line and function) to group by; 0: none.
  uint32_t by_stack_n = 0;
  bool include_python_functions = false;

  // One entry per event, not 0 if the event counts; empty: all events count. An
  // event that does not count still takes its time and memory from the ranges
  // around it.
  std::span<const uint8_t> counted = {};

  // The amounts that each event adds to its group's sums: one entry per event,
  // or empty.
  // The memory of an event includes that of all events inside of it
  // (memory_usage.h).
  std::span<const int64_t> flops = {};
  std::span<const int64_t> cpu_memory_bytes = {};
  std::span<const int64_t> device_memory_bytes = {};
  // For how long its thread waited; below 0: not recorded.
  std::span<const DurationNs> wait_ns = {};
};

std::vector<KeyAverage> KeyAverages(const model::Trace& trace,
                                    const KeyAveragesOptions& options);
std::vector<KeyAverage> KeyAverages(const model::Trace& trace,
                                    Duplicates duplicates = Duplicates::kKeep);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_H_
