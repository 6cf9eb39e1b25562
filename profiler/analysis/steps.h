// steps.h - the steps of a program's processes: ranges "ProfilerStep#N".
//
//   for (const ProcessSteps& process : FindSteps(trace)) {
//     for (const Step& step : process.steps) Print(step.number, step.begin_ns);
//   }
//
// A step lasts until the next step of its process begins, and the last one
// until the trace ends. If several threads of a process have steps, only those
// of the thread with the most steps count.
//
// Cost: linear in the names and, if one of them is a step's, in the events.
#ifndef KYMO_PROFILER_ANALYSIS_STEPS_H_
#define KYMO_PROFILER_ANALYSIS_STEPS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// The name of a step without its number, and the name of all steps together.
inline constexpr std::string_view kStepPrefix = "ProfilerStep#";
inline constexpr std::string_view kAllSteps = "ProfilerStep*";

// 7 of "ProfilerStep#7".
std::optional<int64_t> StepNumber(std::string_view name);

struct Step {
  int64_t number = 0;
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
  model::EventIndex event = model::kNoEvent;
};

struct ProcessSteps {
  int64_t pid = 0;
  std::vector<Step> steps;  // by time; never empty
};

// By pid.
std::vector<ProcessSteps> FindSteps(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_STEPS_H_
