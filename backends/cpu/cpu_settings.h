// cpu_settings.h - what the user may choose about annotated ranges.
//
//   KYMO_ASSIGN_OR_RETURN(const CpuSettings settings,
//                         ReadCpuSettings(options));
#ifndef KYMO_BACKENDS_CPU_CPU_SETTINGS_H_
#define KYMO_BACKENDS_CPU_CPU_SETTINGS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/settings.h"

namespace kymo::cpu {

struct CpuSettings {
  bool ranges = true;
};

absl::StatusOr<CpuSettings> ReadCpuSettings(const SessionOptions& options);

// The settings as they are declared, for PluginInfo.
std::vector<SettingInfo> CpuSettingInfos();

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_CPU_SETTINGS_H_
