// cupti_settings.h - what the user said about CUDA activities.
#ifndef KYMO_BACKENDS_CUPTI_CUPTI_SETTINGS_H_
#define KYMO_BACKENDS_CUPTI_CUPTI_SETTINGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cupti/driver.h"
#include "backends/cupti/target/capture.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/settings.h"

namespace kymo::cupti {

struct CuptiSettings {
  CaptureSettings capture;
  unsigned flush_ms = 100;
  bool with_queries = false;
  DeviceCheck device_check = DeviceCheck::kInDev;
  std::string save_folder;  // empty: logs are not kept
};

// kInvalidArgument for a value that cannot be.
absl::StatusOr<CuptiSettings> ParseCuptiSettings(const SessionOptions& options);

// The settings as they are declared, for PluginInfo.
std::vector<SettingInfo> CuptiSettingInfos();

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_CUPTI_SETTINGS_H_
