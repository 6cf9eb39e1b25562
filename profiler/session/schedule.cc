#include "profiler/session/schedule.h"

#include <charconv>
#include <string>
#include <vector>

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

absl::StatusOr<Schedule> MakeSchedule(const ScheduleOptions& options) {
  if (options.wait < 0 || options.warmup < 0 || options.active <= 0 ||
      options.repeat < 0 || options.skip_first < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Invalid profiler schedule arguments. Got wait=", options.wait,
        " (need >= 0), warmup=", options.warmup, " (need >= 0), active=",
        options.active, " (need > 0), repeat=", options.repeat,
        " (need >= 0), skip_first=", options.skip_first, " (need >= 0)."));
  }
  // PyTorch takes any number here.
  if (options.skip_first_wait < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Invalid profiler schedule arguments. Got skip_first_wait=",
        options.skip_first_wait, " (need >= 0)."));
  }
  return
      [options](const StepInfo& info) { return ActionOf(options, info.step); };
}

std::string_view ScheduleWarning(const ScheduleOptions& options) noexcept {
  return options.warmup == 0 ? "Profiler won't be using warmup, this can skew "
                               "profiler results"
                             : "";
}

absl::StatusOr<Schedule> MakeTimedSchedule(DurationNs active_ns,
                                           DurationNs period_ns) {
  if (active_ns <= 0 || period_ns <= active_ns) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a timed schedule needs 0 < active < period; got active=", active_ns,
        " ns, period=", period_ns, " ns"));
  }
  // The cycle that the step before recorded, or -1.
  return [active_ns, period_ns,
          recording = int64_t{-1}](const StepInfo& info) mutable {
    const int64_t cycle = info.elapsed_ns / period_ns;
    const bool active = info.elapsed_ns % period_ns < active_ns;
    if (recording >= 0 && (!active || cycle != recording)) {
      recording = -1;
      return ProfilerAction::kRecordAndSave;
    }
    if (!active) return ProfilerAction::kWarmup;
    recording = cycle;
    return ProfilerAction::kRecord;
  };
}

absl::StatusOr<ScheduleOptions> ParseSchedule(std::string_view text) {
  ScheduleOptions options;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    const std::string_view item = ToStd(part);
    const size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const Field* field = nullptr;
    for (const Field& known : kFields) {
      if (known.name == name) field = &known;
    }
    if (equals == std::string_view::npos || field == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", part, "' is no part of a schedule; it takes ",
          "wait=N,warmup=N,active=N,repeat=N,skip_first=N,skip_first_wait=N"));
    }
    const std::string_view number = item.substr(equals + 1);
    const char* const end = number.data() + number.size();
    const auto [stop, error] =
        std::from_chars(number.data(), end, options.*field->value);
    if (error != std::errc() || stop != end) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", part, "': ", ToAbsl(name), " takes a whole number"));
    }
  }
  KYMO_RETURN_IF_ERROR(MakeSchedule(options).status());
  return options;
}

}  // namespace kymo
