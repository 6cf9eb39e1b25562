#include "backends/sampling/sampling_settings.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo::sampling {
namespace {

constexpr int kMaxHz = 20'000;
constexpr uint32_t kMinStackBytes = 1024;

std::optional<DurationNs> PeriodOf(std::string_view hz) {
  const auto number = setting::ParseInteger(hz, 1, kMaxHz);
  if (!number) return std::nullopt;
  return kNsPerSecond / *number;
}

constexpr std::string_view kAutoText = "auto";

std::optional<uint32_t> ParseStackBytes(std::string_view text) {
  if (text == kAutoText) return 0;
  const auto bytes =
      setting::ParseInteger(text, kMinStackBytes, kMaxStackBytes);
  // The kernel takes whole words.
  if (!bytes || *bytes % 8 != 0) return std::nullopt;
  return static_cast<uint32_t>(*bytes);
}

std::string StackBytesText(uint32_t bytes) {
  return bytes == 0 ? std::string(kAutoText) : std::to_string(bytes);
}

}  // namespace

SettingTable<Settings> SamplingTable() {
  using S = Settings;
  return SettingTable<S>(
      "sampling",
      {{.name = "hz",
        .value = setting::Custom<S, DurationNs>(
            &S::period_ns, PeriodOf,
            [](DurationNs period) {
              return std::to_string(kNsPerSecond / period);
            },
            setting::IntegerRange(1, kMaxHz, ""), "N"),
        .purpose = "Samples per second of CPU time and thread.",
        .is_common = true},
       {.name = "sampler",
        .value = setting::Word(&S::sampler, {{"auto", Sampler::kAuto},
                                             {"perf", Sampler::kPerf},
                                             {"timer", Sampler::kTimer}}),
        .purpose = "What takes the samples: the kernel (perf, through "
                   "perf_event_open), or CPU-time timers in the target "
                   "(timer). auto takes perf where it is permitted.",
        .old_name = "sampler"},
       {.name = "unwind",
        .value = setting::Word(&S::unwind, {{"dwarf", UnwindMode::kDwarf},
                                            {"fp", UnwindMode::kFramePointer}}),
        .purpose = "How a stack is followed: by call frame information "
                   "(dwarf), or by frame pointers (fp, with perf only).",
        .old_name = "unwind"},
       {.name = "stack_bytes",
        .value = setting::Custom<S, uint32_t>(
            &S::stack_bytes, ParseStackBytes, StackBytesText,
            absl::StrCat("auto, or a multiple of 8 from ", kMinStackBytes,
                         " to ", kMaxStackBytes),
            "N"),
        .purpose = "Bytes of the stack that are copied with each sample. auto "
                   "takes 65528, or less where the kernel gives little room "
                   "for samples. Of 65528, perf events copy 65320: the rest of "
                   "a sample needs room, too. A stack that is deeper begins at "
                   "[truncated].",
        .old_name = "stack_bytes"},
       {.name = "max_samples",
        .value = setting::Integer(&S::max_samples, 0, 1'000'000'000),
        .purpose = "Newest samples that timelines show. Older ones of a long "
                   "recording are added up: tables and stacks count them. 0 "
                   "keeps each."},
       {.name = "all_processes",
        .value = setting::Word(
            &S::all_processes,
            {{"auto", AllProcesses::kAuto}, {"never", AllProcesses::kNever}}),
        .purpose = "auto goes on with perf events of all that the machine "
                   "runs if events of the program alone mislead, where that "
                   "is permitted. Samples of other programs are dropped."},
       {.name = "python",
        .value =
            setting::Word(&S::reads_python, {{"auto", true}, {"off", false}}),
        .purpose = "auto shows the functions of Python programs (3.11 to "
                   "3.14), between those of C. They are read from the "
                   "program's memory, with perf events only. off shows the "
                   "interpreter's functions."}});
}

absl::StatusOr<Settings> ParseSettings(const SessionOptions& options) {
  KYMO_ASSIGN_OR_RETURN(Settings settings,
                        SamplingTable().Read(options.settings));
  settings.may_slow_down = !options.settings.contains("sampling_hz");
  if (settings.sampler == Sampler::kTimer &&
      settings.unwind == UnwindMode::kFramePointer) {
    return absl::InvalidArgumentError(
        "sampling_unwind is 'fp'; with sampling_sampler=timer it takes dwarf");
  }
  return settings;
}

}  // namespace kymo::sampling
