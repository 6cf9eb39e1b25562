#include "profiler/session/step_machine.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo {
namespace {

// The letters of step_machine.h; '!' warns.
const char* Calls(ProfilerAction from, ProfilerAction to) {
  static constexpr const char* kCalls[4][4] = {
      {"", "P", "PS", "PS"},
      {"!ST", "", "S", "S"},
      {"!T", "!TP", "", ""},
      {"TR", "TRP", "TRPS", "TRPS"},
  };
  return kCalls[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

const char* CallsOfStop(ProfilerAction from) {
  static constexpr const char* kCalls[4] = {"", "ST", "TR", "TR"};
  return kCalls[static_cast<size_t>(from)];
}

absl::Status Call(CycleRecorder& recorder, char letter) {
  switch (letter) {
    case 'P':
      return recorder.PrepareTrace();
    case 'S':
      return recorder.StartTrace();
    case 'T':
      return recorder.StopTrace();
    default:
      return recorder.TraceReady();
  }
}

// P begins a cycle, so it ends the effect of an earlier error.
absl::Status CallAll(CycleRecorder& recorder, const char* letters) {
  absl::Status first;
  bool broken = false;
  for (; *letters != '\0'; ++letters) {
    if (*letters == 'P') broken = false;
    if (broken) continue;
    absl::Status status = Call(recorder, *letters);
    broken = !status.ok();
    first.Update(std::move(status));
  }
  return first;
}

bool Records(ProfilerAction action) {
  return action == ProfilerAction::kRecord ||
         action == ProfilerAction::kRecordAndSave;
}

}  // namespace

StepMachine::StepMachine(CycleRecorder* recorder,
                         std::optional<Schedule> schedule,
                         std::function<TimeNs()> clock)
    : recorder_(recorder),
      schedule_(std::move(schedule)),
      clock_(std::move(clock)) {}

absl::Status StepMachine::Start() {
  if (running_) {
    return absl::FailedPreconditionError(
        "Profiler context manager is not reentrant");
  }
  start_ns_ = clock_();
  step_num_ = 0;
  ever_recorded_ = false;
  current_action_ = ProfilerAction::kNone;
  KYMO_ASSIGN_OR_RETURN(const ProfilerAction action, Ask(0));
  KYMO_RETURN_IF_ERROR(Transit(ProfilerAction::kNone, action));
  running_ = true;
  Enter(action);
  BeginRange();
  return absl::OkStatus();
}

absl::Status StepMachine::Step() {
  if (!running_) {
    return absl::FailedPreconditionError(
        "Profiler must be initialized before starting trace");
  }
  KYMO_ASSIGN_OR_RETURN(const ProfilerAction action, Ask(step_num_ + 1));
  EndRange();
  const ProfilerAction before = current_action_;
  ++step_num_;
  Enter(action);
  absl::Status status = Transit(before, action);
  BeginRange();
  return status;
}

absl::Status StepMachine::Stop() {
  if (!running_) {
    return absl::FailedPreconditionError(
        "Profiler must be initialized before stopping trace");
  }
  EndRange();
  running_ = false;
  absl::Status status = CallAll(*recorder_, CallsOfStop(current_action_));
  if (schedule_ && !ever_recorded_) {
    recorder_->Warn(absl::StrCat(
        "the profile stopped after ", step_num_ + 1,
        " step(s) before any that its schedule records: call Step() more "
        "often, or give the schedule a smaller wait, warmup or skip_first"));
  }
  return status;
}

absl::StatusOr<ProfilerAction> StepMachine::Ask(int64_t step) const {
  if (!schedule_) return ProfilerAction::kRecord;
  return AskSchedule(*schedule_,
                     {.step = step, .elapsed_ns = clock_() - start_ns_});
}

void StepMachine::Enter(ProfilerAction action) {
  current_action_ = action;
  ever_recorded_ |= Records(action);
}

absl::Status StepMachine::Transit(ProfilerAction from, ProfilerAction to) {
  const char* letters = Calls(from, to);
  if (*letters == '!') {
    recorder_->Warn(
        absl::StrCat("Incorrect schedule: ", ToAbsl(ProfilerActionName(from)),
                     " followed by ", ToAbsl(ProfilerActionName(to))));
    ++letters;
  }
  // A trace that starts in the step in which it is prepared.
  if (schedule_ && !warned_of_warmup_ &&
      std::string_view(letters).ends_with("PS")) {
    warned_of_warmup_ = true;
    recorder_->Warn(
        "Profiler won't be using warmup, this can skew profiler results");
  }
  return CallAll(*recorder_, letters);
}

void StepMachine::BeginRange() {
  if (!schedule_) return;
  recorder_->BeginStepRange(step_num_);
  range_open_ = true;
}

void StepMachine::EndRange() {
  if (range_open_) recorder_->EndStepRange();
  range_open_ = false;
}

}  // namespace kymo
