#include "backends/sampling/sampling_settings.h"

#include <charconv>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace kymo::sampling {
namespace {

constexpr int kMaxHz = 20'000;

std::string_view Setting(const SessionOptions& options, const char* name) {
  const auto found = options.settings.find(name);
  return found == options.settings.end() ? std::string_view()
                                         : std::string_view(found->second);
}

absl::Status Invalid(const char* name, std::string_view value,
                     const char* allowed) {
  return absl::InvalidArgumentError(absl::StrCat(
      "sampling: ", name, "=", std::string(value), ": use ", allowed));
}

absl::Status ParseSampler(std::string_view text, Sampler* sampler) {
  if (text.empty() || text == "auto") return absl::OkStatus();
  if (text == "perf") {
    *sampler = Sampler::kPerf;
  } else if (text == "timer") {
    *sampler = Sampler::kTimer;
  } else {
    return Invalid("sampler", text, "auto, perf or timer");
  }
  return absl::OkStatus();
}

absl::Status ParseUnwind(std::string_view text, UnwindMode* unwind) {
  if (text.empty() || text == "dwarf") return absl::OkStatus();
  if (text != "fp") return Invalid("unwind", text, "dwarf or fp");
  *unwind = UnwindMode::kFramePointer;
  return absl::OkStatus();
}

absl::Status ParseStackBytes(std::string_view text, uint32_t* stack_bytes) {
  if (text.empty()) return absl::OkStatus();
  uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || value < 1024 ||
      value > kMaxStackBytes || value % 8 != 0) {
    return Invalid("stack_bytes", text, "a multiple of 8, 1024 to 65528");
  }
  *stack_bytes = value;
  return absl::OkStatus();
}

}  // namespace

std::vector<PluginOption> SettingOptions() {
  return {
      {"sampler", "auto",
       "auto, perf (perf_event_open) or timer (CPU-time timers in the target)"},
      {"unwind", "dwarf",
       "dwarf (call frame information) or fp (frame pointers; perf only)"},
      {"stack_bytes", "16384",
       "bytes of stack copied with each sample, at most 65528"},
  };
}

absl::StatusOr<Settings> ParseSettings(const SessionOptions& options) {
  Settings settings;
  if (options.sampling_hz < 1 || options.sampling_hz > kMaxHz) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sampling_hz=", options.sampling_hz, ": use 1 to ", kMaxHz));
  }
  settings.period_ns = kNsPerSecond / options.sampling_hz;
  absl::Status status =
      ParseSampler(Setting(options, "sampler"), &settings.sampler);
  if (status.ok()) {
    status = ParseUnwind(Setting(options, "unwind"), &settings.unwind);
  }
  if (status.ok()) {
    status =
        ParseStackBytes(Setting(options, "stack_bytes"), &settings.stack_bytes);
  }
  if (!status.ok()) return status;
  if (settings.sampler == Sampler::kTimer &&
      settings.unwind == UnwindMode::kFramePointer) {
    return Invalid("unwind", "fp", "dwarf with sampler=timer");
  }
  return settings;
}

}  // namespace kymo::sampling
