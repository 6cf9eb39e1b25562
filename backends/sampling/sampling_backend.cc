#include "backends/sampling/sampling_backend.h"

#include <errno.h>

#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/sampling/elf_program.h"
#include "backends/sampling/own/own_session.h"
#include "backends/sampling/perf/perf_rules.h"
#include "backends/sampling/perf_events.h"
#include "backends/sampling/perf_session.h"
#include "backends/sampling/running/perf_running.h"
#include "backends/sampling/sampling_settings.h"
#include "backends/sampling/timer_session.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/sampled_processes.h"

namespace kymo {
namespace {

using sampling::Sampler;
using sampling::Settings;

// Checks everything that can be checked without looking at the machine.
absl::StatusOr<Settings> CheckedSettings(const SessionOptions& options) {
#if !defined(__linux__) || !defined(__x86_64__)
  return absl::UnimplementedError(
      "sampling works on x86-64 only; annotate the program instead");
#endif
  return sampling::ParseSettings(options);
}

// Refuses programs in which the kernel ends perf events.
absl::Status CheckPerf(const SessionOptions& options,
                       const Settings& settings) {
  if (options.target == TargetKind::kChildProcess &&
      !options.target_path.empty()) {
    const std::string obstacle =
        sampling::ObstacleToEvents(options.target_path);
    if (!obstacle.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(options.target_path, " ", obstacle));
    }
  }
  return sampling::ProbePerf(settings).status();
}

absl::Status Also(const absl::Status& status, absl::string_view text) {
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; ", text));
}

// Decides what `auto` means: perf if permitted, else timers if they can work.
absl::StatusOr<Settings> UsableSettings(const SessionOptions& options) {
  KYMO_ASSIGN_OR_RETURN(Settings settings, CheckedSettings(options));
  if (options.target != TargetKind::kChildProcess) {
    if (settings.sampler == Sampler::kTimer) {
      return absl::FailedPreconditionError(
          "timers are for programs that the command starts: leave out "
          "sampling_sampler=timer");
    }
    settings.sampler = Sampler::kPerf;
    KYMO_RETURN_IF_ERROR(
        options.target == TargetKind::kThisProcess
            ? sampling::ProbePerf(settings).status()
            : sampling::CheckRunning(settings, options.running));
    return settings;
  }
  if (settings.sampler != Sampler::kTimer) {
    const absl::Status perf = CheckPerf(options, settings);
    if (perf.ok()) {
      settings.sampler = Sampler::kPerf;
      return settings;
    }
    if (settings.sampler == Sampler::kPerf) {
      return Also(perf, "or use --sampling_sampler=timer");
    }
    if (settings.unwind == sampling::UnwindMode::kFramePointer) {
      return Also(perf, "--sampling_unwind=fp needs it");
    }
    settings.sampler = Sampler::kTimer;
    const absl::Status timer = sampling::CheckTimerTarget(options.target_path);
    return timer.ok() ? absl::StatusOr<Settings>(settings)
                      : Also(perf, timer.message());
  }
  KYMO_RETURN_IF_ERROR(sampling::CheckTimerTarget(options.target_path));
  return settings;
}

std::string PerfLimitation(const Settings& settings) {
  std::string text;
  const auto access = sampling::ProbePerf(settings);
  if (access.ok() && !access->kernel) {
    text =
        absl::StrCat("time in the kernel is not sampled: ",
                     sampling::PerfRefusal(EACCES, sampling::ReadPerfRules()));
  }
  if (settings.unwind == sampling::UnwindMode::kFramePointer) {
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    "--sampling_unwind=fp leaves out the callers of functions "
                    "without frame pointers");
  }
  return text;
}

std::string TimerLimitation(const SessionOptions& options,
                            const Settings& settings, Sampler wanted) {
  const int tick_hz = sampling::KernelTickHz();
  const auto hz = static_cast<int>(kNsPerSecond / settings.period_ns);
  std::string text =
      "sampling by timers in the target: only threads made by pthread_create "
      "in dynamically linked programs, no frames of the kernel";
  if (hz > tick_hz) {
    absl::StrAppend(&text, ", and at most ", tick_hz, " of the ", hz,
                    " samples a second that were asked for (the kernel's "
                    "tick; each stands for more time)");
  }
  // Who asked for timers needs no advice against them.
  if (wanted == Sampler::kTimer) return text;
  const absl::Status perf = CheckPerf(options, settings);
  return perf.ok() ? text : absl::StrCat(text, "; ", perf.message());
}

class SamplingBackend final : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kCpuSample};
  }
  // A program is sampled by default, but not the process of a session.
  bool IsWanted(const std::set<std::string>& named,
                const SessionOptions& options) const override {
    return named.contains(info_.name) ||
           (named.empty() && options.target != TargetKind::kThisProcess);
  }

  bool CanAttach() const override { return true; }
  absl::Status Availability(const SessionOptions& options) const override {
    return UsableSettings(options).status();
  }
  std::string Limitation(const SessionOptions& options) const override {
    const auto asked = CheckedSettings(options);
    const auto settings = UsableSettings(options);
    if (!asked.ok() || !settings.ok()) return {};
    return settings->sampler == Sampler::kPerf
               ? PerfLimitation(*settings)
               : TimerLimitation(options, *settings, asked->sampler);
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(const Settings settings, UsableSettings(options));
    if (options.target == TargetKind::kThisProcess) {
      return sampling::NewOwnSession(settings);
    }
    return settings.sampler == Sampler::kPerf
               ? sampling::NewPerfSession(
                     settings, SampledProcesses::Of(options.shared),
                     options.target == TargetKind::kRunningProcesses
                         ? std::optional(options.running)
                         : std::nullopt)
               : sampling::NewTimerSession(settings);
  }

 private:
  const PluginInfo info_{
      .name = "sampling",
      .purpose = "where the CPU time of an unannotated program goes",
      .maturity = Maturity::kStable,
      .settings = sampling::SamplingTable().infos()};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewSamplingBackend() {
  return std::make_unique<SamplingBackend>();
}

}  // namespace kymo
