// folded_stacks.h - stacks and what was spent there, for flame graph tools.
//
//   train.py(9):_step;model.py(3):_forward 12
//
//   file = { line }        line = entry { ";" entry } " " integer "\n"
//
// A line per event, outermost entry first, with whole microseconds of self
// time; events below 1 us or without stack have none. Space, `;`, tab and line
// feed become `_`. Equal stacks stand on as many lines; the tools add them up.
#ifndef KYMO_PROFILER_EVENTS_FOLDED_STACKS_H_
#define KYMO_PROFILER_EVENTS_FOLDED_STACKS_H_

#include <ostream>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "profiler/events/averages/function_event_avg.h"
#include "profiler/events/function_event.h"

namespace kymo {

enum class StackMetric { kSelfCpuTime, kSelfDeviceTime };

// The metric of one of PyTorch's names: self_cpu_time_total,
// self_cuda_time_total, self_xpu_time_total, self_privateuse1_time_total. Other
// names are kInvalidArgument.
absl::StatusOr<StackMetric> ParseStackMetric(std::string_view metric);

void WriteFoldedStacks(std::span<const FunctionEvent> events,
                       StackMetric metric, std::ostream& out);
void WriteFoldedStacks(std::span<const FunctionEventAvg> averages,
                       StackMetric metric, std::ostream& out);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_FOLDED_STACKS_H_
