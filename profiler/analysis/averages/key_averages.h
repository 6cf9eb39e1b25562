// key_averages.h - what the events of one name took together.
//
//   for (const KeyAverage& row : KeyAverages(trace)) {
//     Print(row.name, row.count, row.self_cpu_time_total_ns);
//   }
//
//   KeyAverages(trace, {.by_input_shapes = true, .by_stack_n = 5});
//
// As PyTorch's key_averages(), but for duplicates, which stay unless asked
// otherwise: events are grouped by name, by device (thread or stream) and by
// whether they are user annotations; "ProfilerStep#7" counts as
// "ProfilerStep*". On request, by overload, by the sizes of the input tensors
// and by the innermost frames of where they were called, too. Instants and
// counters are left out, and so are, unless asked for, frames and modules of
// the program (kPythonFunction): their time is missing from the self time of
// the ranges around them. Groups stand in the order of their first event in the
// whole trace, events sorted by (start, longer first, index).
//
// In a trace that is a window of a larger one, repeated events (kEventRepeated)
// do not count; the time of what is inside of them still is not theirs. A group
// of them alone has count 0, and a self time below 0: see window_sums.h.
//
// CPU times are those of threads: the total of a group sums whole durations,
// so nested events of one name count repeatedly; its self time is the sum of
// self times. Ranges of device streams count as device time.
//
// Cost: one linear pass over name, times and parents, in parallel; by overload,
//   shapes or stack also over the details, with one hash probe per event. All
//   sums are integers, so that the result is the same for any number of
//   threads.
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// One group.
struct KeyAverage {
  std::string name;
  bool is_user_annotation = false;
  bool is_device = false;  // of a device stream
  bool is_async = false;   // of the group's first event
  bool is_python_function = false;
  model::EventIndex first_event = model::kNoEvent;

  // What the group was asked to share; else empty.
  std::string overload_name;
  std::string input_shapes;  // "[[64, 32], []]"
  // A stack whose innermost `by_stack_n` frames are the group's.
  model::StackId stack = model::kEmptyStack;

  int64_t count = 0;
  DurationNs cpu_time_total_ns = 0;
  DurationNs self_cpu_time_total_ns = 0;
  DurationNs device_time_total_ns = 0;
  DurationNs self_device_time_total_ns = 0;
  DurationNs min_ns = 0;  // shortest and longest event
  DurationNs max_ns = 0;

  // Sums of what KeyAveragesOptions gave; self: without direct children's.
  int64_t cpu_memory_usage_bytes = 0;
  int64_t self_cpu_memory_usage_bytes = 0;
  int64_t device_memory_usage_bytes = 0;
  int64_t self_device_memory_usage_bytes = 0;
  int64_t flops = 0;

  friend bool operator==(const KeyAverage&, const KeyAverage&) = default;
};

// What to do with a range that is the only child of a range of its own name
// (duplicates.h).
enum class Duplicates {
  kKeep,   // count it: recursion shows as often as it happened
  kMerge,  // as PyTorch: it and the range around it are one
};

struct KeyAveragesOptions {
  Duplicates duplicates = Duplicates::kKeep;
  bool by_overload_name = false;
  bool by_input_shapes = false;
  // Innermost frames (file, line and function); 0: not by stack.
  uint32_t by_stack_n = 0;
  bool include_python_functions = false;

  // Which events count: not 0. Empty: all, else an entry per event. Those that
  // do not count still take their time and memory from the ranges around them.
  std::span<const uint8_t> counted = {};

  // What each event counts; empty, or one entry per event. Memory is that of
  // the event and all inside of it (memory_usage.h).
  std::span<const int64_t> flops = {};
  std::span<const int64_t> cpu_memory_bytes = {};
  std::span<const int64_t> device_memory_bytes = {};
};

std::vector<KeyAverage> KeyAverages(const model::Trace& trace,
                                    const KeyAveragesOptions& options);
std::vector<KeyAverage> KeyAverages(const model::Trace& trace,
                                    Duplicates duplicates = Duplicates::kKeep);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_H_
