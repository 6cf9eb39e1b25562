// sampling_settings.h - what the user may choose about sampling.
//
//   KYMO_ASSIGN_OR_RETURN(const Settings settings, ParseSettings(options));
#ifndef KYMO_BACKENDS_SAMPLING_SAMPLING_SETTINGS_H_
#define KYMO_BACKENDS_SAMPLING_SAMPLING_SETTINGS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/settings.h"

namespace kymo::sampling {

enum class Sampler { kAuto, kPerf, kTimer };
// When to go on with events of all processes (perf_events.h).
enum class AllProcesses { kAuto, kNever };
enum class UnwindMode { kDwarf, kFramePointer };

// The most that can be asked for: a record's size is 16 bits. Of 65,528 bytes
// the kernel copies 65,320, because the rest of the record needs room, too.
inline constexpr uint32_t kMaxStackBytes = 65528;

struct Settings {
  DurationNs period_ns = kNsPerMs;
  Sampler sampler = Sampler::kAuto;
  UnwindMode unwind = UnwindMode::kDwarf;
  AllProcesses all_processes = AllProcesses::kAuto;
  // Whether fewer samples are taken of a program that they cost too much
  // (perf/rate_watch.h): nobody said how many.
  bool may_slow_down = false;
  // Whether stacks of Python programs show Python's functions.
  bool reads_python = true;
  // 0: as many as the rings have room for (perf_events.h).
  uint32_t stack_bytes = 0;
  // Kept one by one; older ones are added up (sample_store.h). 0: all.
  size_t max_samples = 500'000;
};

// The settings as they are declared; the defaults are those of Settings.
SettingTable<Settings> SamplingTable();

// kInvalidArgument names the setting and says what it takes.
absl::StatusOr<Settings> ParseSettings(const SessionOptions& options);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_SAMPLING_SETTINGS_H_
