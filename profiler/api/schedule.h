// schedule.h - choose which steps of a program a session records.
//
//   absl::StatusOr<kymo::Schedule> schedule =
//       kymo::MakeSchedule({.wait = 1, .warmup = 1, .active = 3});
//   if (!schedule.ok()) return schedule.status();
//
// Give the schedule to a session as ProfileOptions::schedule (profile.h).
// profiler/session/schedule.h declares and describes everything.
#ifndef KYMO_PROFILER_API_SCHEDULE_H_
#define KYMO_PROFILER_API_SCHEDULE_H_

#include "profiler/session/schedule.h"  // IWYU pragma: export

#endif  // KYMO_PROFILER_API_SCHEDULE_H_
