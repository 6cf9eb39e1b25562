#include "profiler/session/schedule.h"

#include <charconv>
#include <set>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo {
namespace {

ProfilerAction ActionOf(const ScheduleOptions& options, int64_t step) {
  if (step < options.skip_first) return ProfilerAction::kNone;
  step -= options.skip_first;
  if (options.skip_first_wait != 0) step += options.wait;
  const int64_t cycle = options.wait + options.warmup + options.active;
  if (options.repeat > 0 && step / cycle >= options.repeat) {
    return ProfilerAction::kNone;
  }
  const int64_t in_cycle = step % cycle;
  if (in_cycle < options.wait) return ProfilerAction::kNone;
  if (in_cycle < options.wait + options.warmup) return ProfilerAction::kWarmup;
  return in_cycle < cycle - 1 ? ProfilerAction::kRecord
                              : ProfilerAction::kRecordAndSave;
}

// Sums of a few of these and a step are far from overflow.
constexpr int64_t kLargest = int64_t{1} << 60;

// MakeTimedSchedule's state between two steps.
struct TimedCycle {
  enum class Phase { kIdle, kWarm, kRecording };

  DurationNs active_ns;
  DurationNs period_ns;
  Phase phase = Phase::kIdle;
  int64_t period = -1;      // of the last cycle
  DurationNs began_ns = 0;  // recording

  ProfilerAction Next(const StepInfo& info);
};

ProfilerAction TimedCycle::Next(const StepInfo& info) {
  if (info.step == 0) {
    phase = Phase::kIdle;
    period = -1;
  }
  switch (phase) {
    case Phase::kIdle:
      if (info.elapsed_ns / period_ns <= period) return ProfilerAction::kNone;
      period = info.elapsed_ns / period_ns;
      phase = Phase::kWarm;
      return ProfilerAction::kWarmup;
    case Phase::kWarm:
      began_ns = info.elapsed_ns;
      phase = Phase::kRecording;
      return ProfilerAction::kRecord;
    case Phase::kRecording:
      if (info.elapsed_ns - began_ns < active_ns) {
        return ProfilerAction::kRecord;
      }
      phase = Phase::kIdle;
      return ProfilerAction::kRecordAndSave;
  }
  return ProfilerAction::kNone;
}

struct Field {
  std::string_view name;
  int64_t ScheduleOptions::*value;
};
constexpr Field kFields[] = {
    {"wait", &ScheduleOptions::wait},
    {"warmup", &ScheduleOptions::warmup},
    {"active", &ScheduleOptions::active},
    {"repeat", &ScheduleOptions::repeat},
    {"skip_first", &ScheduleOptions::skip_first},
    {"skip_first_wait", &ScheduleOptions::skip_first_wait},
};

// Sets what "wait=1" tells, and returns its name.
absl::StatusOr<std::string_view> ParsePart(std::string_view part,
                                           ScheduleOptions& options) {
  const size_t equals = part.find('=');
  const std::string_view name = part.substr(0, equals);
  const Field* field = nullptr;
  for (const Field& known : kFields) {
    if (known.name == name) field = &known;
  }
  if (equals == std::string_view::npos || field == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", ToAbsl(part), "' is not a part of a schedule; it takes ",
        "wait=N,warmup=N,active=N,repeat=N,skip_first=N,skip_first_wait=N"));
  }
  const std::string_view number = part.substr(equals + 1);
  const char* const end = number.data() + number.size();
  const auto [stop, error] =
      std::from_chars(number.data(), end, options.*field->value);
  if (error != std::errc() || stop != end) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", ToAbsl(part), "': ", ToAbsl(name), " takes a whole number"));
  }
  return field->name;
}

}  // namespace

std::string_view ProfilerActionName(ProfilerAction action) noexcept {
  switch (action) {
    case ProfilerAction::kNone:
      return "NONE";
    case ProfilerAction::kWarmup:
      return "WARMUP";
    case ProfilerAction::kRecord:
      return "RECORD";
    case ProfilerAction::kRecordAndSave:
      return "RECORD_AND_SAVE";
  }
  return "";
}

absl::StatusOr<ProfilerAction> AskSchedule(const Schedule& schedule,
                                           const StepInfo& info) {
  if (info.step < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Step must be non-negative. Got ", info.step, "."));
  }
  if (!schedule) {
    return absl::InvalidArgumentError(
        "the schedule is an empty function: leave it out, or use MakeSchedule");
  }
  const ProfilerAction action = schedule(info);
  if (ProfilerActionName(action).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the schedule returned ", static_cast<int>(action), " for step ",
        info.step, ": it must return one of the four ProfilerActions"));
  }
  return action;
}

absl::StatusOr<Schedule> MakeSchedule(const ScheduleOptions& options) {
  if (options.wait < 0 || options.warmup < 0 || options.active <= 0 ||
      options.repeat < 0 || options.skip_first < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Invalid profiler schedule arguments. Got wait=", options.wait,
        " (need >= 0), warmup=", options.warmup, " (need >= 0), active=",
        options.active, " (need > 0), repeat=", options.repeat,
        " (need >= 0), skip_first=", options.skip_first, " (need >= 0)."));
  }
  if (options.skip_first_wait < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Invalid profiler schedule arguments. Got skip_first_wait=",
        options.skip_first_wait, " (need >= 0)."));
  }
  for (const Field& field : kFields) {
    if (options.*field.value > kLargest) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Invalid profiler schedule arguments. Got ", ToAbsl(field.name), "=",
          options.*field.value, " (need <= ", kLargest, ")."));
    }
  }
  return
      [options](const StepInfo& info) { return ActionOf(options, info.step); };
}

absl::StatusOr<Schedule> MakeTimedSchedule(DurationNs active_ns,
                                           DurationNs period_ns) {
  if (active_ns <= 0 || period_ns <= active_ns) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a timed schedule needs 0 < active < period; got active=", active_ns,
        " ns, period=", period_ns, " ns"));
  }
  return [cycle = TimedCycle{.active_ns = active_ns, .period_ns = period_ns}](
             const StepInfo& info) mutable { return cycle.Next(info); };
}

absl::StatusOr<ScheduleOptions> ParseSchedule(std::string_view text) {
  ScheduleOptions options;
  std::set<std::string_view> seen;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    KYMO_ASSIGN_OR_RETURN(const std::string_view name,
                          ParsePart(ToStd(part), options));
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", part, "': ", ToAbsl(name), " is given twice"));
    }
  }
  KYMO_RETURN_IF_ERROR(MakeSchedule(options).status());
  return options;
}

}  // namespace kymo
