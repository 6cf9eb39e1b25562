// step_tracker.h - profiler/session/step_tracker.h for programs.
#ifndef KYMO_PROFILER_API_STEP_TRACKER_H_
#define KYMO_PROFILER_API_STEP_TRACKER_H_

#include "profiler/session/step_tracker.h"  // IWYU pragma: export

#endif  // KYMO_PROFILER_API_STEP_TRACKER_H_
