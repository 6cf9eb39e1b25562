// step_of_event.h - the step of the program in which each event began.
//
//   const std::vector<StepRow> steps = AllSteps(trace);
//   const Column64 step = StepsOfEvents(trace, steps, launches);
//   step[event]       // 7 in "ProfilerStep#7"; kNoStep: in none
//
// An event of a device belongs to the step in which it was launched, as with
// `report --step`.
#ifndef KYMO_PROFILER_TABLES_STEP_OF_EVENT_H_
#define KYMO_PROFILER_TABLES_STEP_OF_EVENT_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/steps.h"
#include "profiler/base/column.h"
#include "profiler/model/trace.h"

namespace kymo::tables {

using Column64 = kymo::Column<int64_t>;

inline constexpr int64_t kNoStep = std::numeric_limits<int64_t>::min();

struct StepRow {
  int64_t pid = 0;
  analysis::Step step;
};

// By pid, then time.
std::vector<StepRow> AllSteps(const model::Trace& trace);

Column64 StepsOfEvents(const model::Trace& trace,
                       const std::vector<StepRow>& steps,
                       const analysis::Launches& launches);

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_STEP_OF_EVENT_H_
