// schedule.h - which steps of a program are recorded.
//
//   KYMO_ASSIGN_OR_RETURN(
//       Schedule schedule,
//       MakeSchedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 2}));
//   AskSchedule(schedule, {.step = 4})    // ProfilerAction::kRecordAndSave
//
//   step   0     1       2       3       4             5 ...
//          NONE  WARMUP  RECORD  RECORD  RECORD_AND_SAVE
//          `------------------ one cycle --------------'
//
// A schedule is any function from the step's number and the time since the
// start to an action: of PyTorch's kind (MakeSchedule), by the clock
// (MakeTimedSchedule), or of the program's own.
//
// Threads: schedules are asked by the thread that steps.
#ifndef KYMO_PROFILER_SESSION_SCHEDULE_H_
#define KYMO_PROFILER_SESSION_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"

namespace kymo {

// What a step does, with PyTorch's numbers.
enum class ProfilerAction : uint8_t {
  kNone = 0,           // nothing
  kWarmup = 1,         // get ready, throw away
  kRecord = 2,         // record
  kRecordAndSave = 3,  // record, and finish the cycle with this step
};

// "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE".
std::string_view ProfilerActionName(ProfilerAction action) noexcept;

// The step that is asked about.
struct StepInfo {
  int64_t step = 0;           // from 0
  DurationNs elapsed_ns = 0;  // since the profile's start
};

using Schedule = std::function<ProfilerAction(const StepInfo&)>;

// What the schedule says, checked: kInvalidArgument for a negative step, with
// PyTorch's text, an empty function, and an answer that is no ProfilerAction.
absl::StatusOr<ProfilerAction> AskSchedule(const Schedule& schedule,
                                           const StepInfo& info);

// PyTorch's torch.profiler.schedule. Each cycle does nothing for `wait` steps,
// warms up for `warmup` and records `active`; after `repeat` cycles it stops, 0
// goes on for ever. The first `skip_first` steps come before all that; with
// `skip_first_wait` the first cycle has no waiting steps.
struct ScheduleOptions {
  int64_t wait = 0;
  int64_t warmup = 0;
  int64_t active = 1;
  int64_t repeat = 0;
  int64_t skip_first = 0;
  int64_t skip_first_wait = 0;
};

// kInvalidArgument with PyTorch's text for numbers that make no sense: active
// must be positive, the others must not be negative. PyTorch takes any
// skip_first_wait; here it is checked too.
absl::StatusOr<Schedule> MakeSchedule(const ScheduleOptions& options);

// One cycle in each period of time: the first step that begins in the period
// warms up, the steps after it are recorded, and the first of those that begins
// at least `active_ns` after recording began is the last. A period without a
// step has no cycle. For one profile at a time: it remembers its cycle.
// kInvalidArgument unless 0 < active_ns < period_ns.
absl::StatusOr<Schedule> MakeTimedSchedule(DurationNs active_ns,
                                           DurationNs period_ns);

// Reads "wait=1,warmup=1,active=3,repeat=2,skip_first=0,skip_first_wait=0";
// any of them, each at most once, in any order. kInvalidArgument says what is
// wrong.
absl::StatusOr<ScheduleOptions> ParseSchedule(std::string_view text);

}  // namespace kymo

#endif  // KYMO_PROFILER_SESSION_SCHEDULE_H_
