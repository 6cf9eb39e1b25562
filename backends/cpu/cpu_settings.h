// cpu_settings.h - what the user may choose about the `cpu` backend.
//
//   KYMO_ASSIGN_OR_RETURN(const CpuSettings settings,
//                         ReadCpuSettings(options));
//
// The heap, NVTX and ITT have names of their own (memory_..., nvtx_...,
// itt_...), though this backend records them.
#ifndef KYMO_BACKENDS_CPU_CPU_SETTINGS_H_
#define KYMO_BACKENDS_CPU_CPU_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/flight_recorder.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/settings.h"
#include "profiler/record/host/host.h"

namespace kymo::cpu {

struct CpuSettings {
  uint64_t arena_mib = 256;  // for a child
  std::optional<record::FullPolicy> when_full;
  bool keep_raw = false;
  std::optional<uint64_t> max_memory;  // bytes
  std::optional<FlightLimit> flight_recorder;
  bool ranges = true;
};

enum class HeapMode { kAll, kSampled, kCounters, kReports };

struct MemorySettings {
  HeapMode mode = HeapMode::kAll;
  uint64_t interval = 512 << 10;  // bytes
  std::optional<bool> stacks;
  bool mappings = false;
};

struct NvtxSettings {
  bool capture = true;
};

struct IttSettings {
  bool capture = false;
};

// The defaults are those of the options' target.
absl::StatusOr<CpuSettings> ReadCpuSettings(const SessionOptions& options);
absl::StatusOr<MemorySettings> ReadMemorySettings(
    const SessionOptions& options);
absl::StatusOr<NvtxSettings> ReadNvtxSettings(const SessionOptions& options);
absl::StatusOr<IttSettings> ReadIttSettings(const SessionOptions& options);

// All of them as they are declared, for PluginInfo.
std::vector<SettingInfo> CpuSettingInfos();

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_CPU_SETTINGS_H_
