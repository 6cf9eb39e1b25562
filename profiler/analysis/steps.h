// steps.h - the steps of a program's processes: ranges "ProfilerStep#N".
//
//   for (const ProcessSteps& process : FindSteps(trace)) {
//     for (const Step& step : process.steps) Print(step.number, step.begin_ns);
//   }
//
// A step lasts until the next one of its process begins, the last one until the
// trace ends. Where several threads of a process have steps, those of the
// thread with most of them are the process's.
//
// Cost: linear in the events, and nothing where no name is a step's.
#ifndef KYMO_PROFILER_ANALYSIS_STEPS_H_
#define KYMO_PROFILER_ANALYSIS_STEPS_H_

#include <cstdint>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

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
