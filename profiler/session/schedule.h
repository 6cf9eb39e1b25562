// schedule.h - choose which steps of a program are recorded.
//
//   absl::StatusOr<kymo::Schedule> schedule =
//       kymo::MakeSchedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 2});
//   if (!schedule.ok()) return schedule.status();
//   Print(*kymo::AskSchedule(*schedule, {.step = 4}) ==
//         kymo::ProfilerAction::kRecordAndSave);   // true
//
// This schedule does:
//
//   | step    0     1       2       3       4                5 ...
//   | action  NONE  WARMUP  RECORD  RECORD  RECORD_AND_SAVE  NONE ...
//   |         `--------------- one cycle ----------------'
//
// A schedule is a function from the step's number and the time since the start
// to an action. MakeSchedule makes PyTorch's torch.profiler.schedule,
// MakeTimedSchedule one that follows the clock; or write your own.
//
// Threads: a profile asks its schedule on the thread that steps.
// Errors:  kInvalidArgument, with PyTorch's text where PyTorch has one.
#ifndef KYMO_PROFILER_SESSION_SCHEDULE_H_
#define KYMO_PROFILER_SESSION_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"

namespace kymo {

// The profiler's action in a step. The numbers are PyTorch's.
enum class ProfilerAction : uint8_t {
  kNone = 0,           // nothing
  kWarmup = 1,         // get ready, and throw away what is recorded
  kRecord = 2,         // record
  kRecordAndSave = 3,  // record, and finish the cycle with this step
};

// "NONE", "WARMUP", "RECORD" or "RECORD_AND_SAVE".
std::string_view ProfilerActionName(ProfilerAction action) noexcept;

// The step that a schedule is asked about.
struct StepInfo {
  int64_t step = 0;           // from 0
  DurationNs elapsed_ns = 0;  // since the profile's start
};

using Schedule = std::function<ProfilerAction(const StepInfo&)>;

// Asks the schedule and checks the answer. kInvalidArgument for a negative step
// (with PyTorch's text), for an empty function, and for an answer that is no
// ProfilerAction.
absl::StatusOr<ProfilerAction> AskSchedule(const Schedule& schedule,
                                           const StepInfo& info);

// The parameters of PyTorch's torch.profiler.schedule, counted in steps.
// Nothing happens in the first `skip_first` steps. Then each cycle waits for
// `wait` steps, warms up for `warmup` steps and records `active` steps. After
// `repeat` cycles the schedule does nothing more; 0 repeats without end. If
// `skip_first_wait` is not 0, the first cycle does not wait.
struct ScheduleOptions {
  int64_t wait = 0;
  int64_t warmup = 0;
  int64_t active = 1;
  int64_t repeat = 0;
  int64_t skip_first = 0;
  int64_t skip_first_wait = 0;
};

// `active` must be positive, and no other number may be negative; else
// kInvalidArgument with PyTorch's text. (PyTorch does not check
// skip_first_wait.)
absl::StatusOr<Schedule> MakeSchedule(const ScheduleOptions& options);

// Makes a schedule with one cycle in each period of `period_ns` nanoseconds.
// The first step that begins in the period warms up, and the steps after it are
// recorded. The cycle ends with the first recorded step that begins at least
// `active_ns` after recording began. A period without a step has no cycle.
// The schedule remembers its cycle, so use it for one profile at a time.
// kInvalidArgument unless 0 < active_ns < period_ns.
absl::StatusOr<Schedule> MakeTimedSchedule(DurationNs active_ns,
                                           DurationNs period_ns);

// Reads "wait=1,warmup=1,active=3,repeat=2,skip_first=0,skip_first_wait=0".
// Each word may stand once, in any order, or be missing. Otherwise
// kInvalidArgument, which says what is wrong.
absl::StatusOr<ScheduleOptions> ParseSchedule(std::string_view text);

}  // namespace kymo

#endif  // KYMO_PROFILER_SESSION_SCHEDULE_H_
