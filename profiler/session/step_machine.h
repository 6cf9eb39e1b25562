// step_machine.h - decides at each step what to prepare, start, stop and save.
//
//   StepMachine machine(&recorder, schedule);
//   machine.Start();                   // schedule(0)
//   machine.Step();                    // schedule(1), and so on
//   machine.Stop();
//
// PyTorch's torch.profiler.profile without the recording: each change from one
// ProfilerAction to the next is a list of calls on CycleRecorder (prepare,
// start, stop, ready).
//
//   from             to NONE   WARMUP      RECORD   RECORD_AND_SAVE  stop
//   NONE             -         P           P S      P S              -
//   WARMUP           ! S T     -           S        S                S T
//   RECORD           ! T       ! T P       -        -                T R
//   RECORD_AND_SAVE  T R       T R P       T R P S  T R P S          T R
//
// "!" goes with a warning. The first "P S" of a schedule goes with PyTorch's
// warning that there is no warm-up. After RECORD -> WARMUP PyTorch does not
// prepare, and a later export crashes; this machine prepares.
//
// Around each step there is a range "ProfilerStep#N", if a schedule was given.
// TraceReady is called when step_num already counts the next step.
//
// Errors:  the error of the first failing call. A failing call ends its cycle:
//   the later calls of the cycle are left out, but the next cycle is prepared.
//   So one handler that finds a disk full does not cost the rest of the run. A
//   schedule's own errors (AskSchedule) leave the machine in its step. Start()
//   of a running machine is kFailedPrecondition, and so are Step() and Stop()
//   of one that does not run. A Start() that fails can be tried again.
// Threads: one.
#ifndef KYMO_PROFILER_SESSION_STEP_MACHINE_H_
#define KYMO_PROFILER_SESSION_STEP_MACHINE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/session/schedule.h"

namespace kymo {

// The recording that a machine drives.
class CycleRecorder {
 public:
  virtual ~CycleRecorder() = default;

  virtual absl::Status PrepareTrace() = 0;
  virtual absl::Status StartTrace() = 0;
  virtual absl::Status StopTrace() = 0;
  virtual absl::Status TraceReady() = 0;
  virtual void BeginStepRange(int64_t step) = 0;
  virtual void EndStepRange() = 0;
  virtual void Warn(std::string_view text) = 0;
};

class StepMachine {
 public:
  // Borrows the recorder. Without a schedule every step is RECORD. `clock`
  // gives monotonic time.
  StepMachine(CycleRecorder* recorder, std::optional<Schedule> schedule,
              std::function<TimeNs()> clock);

  absl::Status Start();
  absl::Status Step();
  // Warns if the schedule never reached a step that records.
  absl::Status Stop();

  bool is_running() const noexcept { return running_; }
  int64_t step_num() const noexcept { return step_num_; }
  ProfilerAction current_action() const noexcept { return current_action_; }

 private:
  absl::StatusOr<ProfilerAction> Ask(int64_t step) const;
  absl::Status Transit(ProfilerAction from, ProfilerAction to);
  void Enter(ProfilerAction action);
  void BeginRange();
  void EndRange();

  CycleRecorder* const recorder_;
  const std::optional<Schedule> schedule_;
  const std::function<TimeNs()> clock_;
  TimeNs start_ns_ = 0;
  bool running_ = false;
  bool range_open_ = false;
  bool ever_recorded_ = false;
  bool warned_of_warmup_ = false;
  int64_t step_num_ = 0;
  ProfilerAction current_action_ = ProfilerAction::kNone;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_SESSION_STEP_MACHINE_H_
