// schedule.h - profiler/session/schedule.h for programs.
#ifndef KYMO_PROFILER_API_SCHEDULE_H_
#define KYMO_PROFILER_API_SCHEDULE_H_

#include "profiler/session/schedule.h"  // IWYU pragma: export

#endif  // KYMO_PROFILER_API_SCHEDULE_H_
