// step_tracker.h - one count of a process's steps, for all who count them.
//
//   kymo::StepTracker::Process().increment_step("Optimizer");
//   Print(kymo::StepTracker::Process().current_step());
//
// profiler/session/step_tracker.h declares and describes everything.
#ifndef KYMO_PROFILER_API_STEP_TRACKER_H_
#define KYMO_PROFILER_API_STEP_TRACKER_H_

#include "profiler/session/step_tracker.h"  // IWYU pragma: export

#endif  // KYMO_PROFILER_API_STEP_TRACKER_H_
