// sampling_settings.h - what the user may choose about sampling.
#ifndef KYMO_BACKENDS_SAMPLING_SAMPLING_SETTINGS_H_
#define KYMO_BACKENDS_SAMPLING_SAMPLING_SETTINGS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/plugin_info.h"

namespace kymo::sampling {

enum class Sampler { kAuto, kPerf, kTimer };
enum class UnwindMode { kDwarf, kFramePointer };

// The most that the kernel copies: a record's size is 16 bits.
inline constexpr uint32_t kMaxStackBytes = 65528;

struct Settings {
  DurationNs period_ns = kNsPerMs;
  Sampler sampler = Sampler::kAuto;
  UnwindMode unwind = UnwindMode::kDwarf;
  uint32_t stack_bytes = 16384;
};

// Names, defaults and purposes, for the backend's PluginInfo.
std::vector<PluginOption> SettingOptions();

// Reads sampling_hz and the settings; the error names the setting and what it
// may be.
absl::StatusOr<Settings> ParseSettings(const SessionOptions& options);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_SAMPLING_SETTINGS_H_
