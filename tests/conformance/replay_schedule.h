// replay_schedule.h - the actions of schedules, step by step.
//
// `schedule.json` has under `tables`, by the schedule's text
// ("wait=1,warmup=1,active=2,repeat=0,skip_first=0"), the action of each of the
// steps 0 to 23, and under `actions` those of steps 0 to 15 of a run. The names
// of the tables are read; both are computed. What the run's handler saw
// (`ready`) is not a question to schedules and is left out.
#ifndef KYMO_TESTS_CONFORMANCE_REPLAY_SCHEDULE_H_
#define KYMO_TESTS_CONFORMANCE_REPLAY_SCHEDULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/conformance/files.h"

namespace kymo::conformance {

absl::StatusOr<Files> ReplaySchedule(const std::string& json);

}  // namespace kymo::conformance

#endif  // KYMO_TESTS_CONFORMANCE_REPLAY_SCHEDULE_H_
