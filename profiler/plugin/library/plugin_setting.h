// plugin_setting.h - a setting that a library declares (kymo/backend_plugin.h),
// as flags and checks need it.
//
//   absl::StatusOr<SettingInfo> info = PluginSetting("requests", setting);
//   // info->name == "requests_queue"
//
// Errors: kInvalidArgument, in words that follow "it cannot be used: ".
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_SETTING_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_SETTING_H_

#include <string>

#include "absl/status/statusor.h"
#include "kymo/backend_plugin.h"
#include "profiler/plugin/settings.h"

namespace kymo {

// `setting`: a copy, as CopySized() makes one.
absl::StatusOr<SettingInfo> PluginSetting(const std::string& plugin_name,
                                          const KymoSetting& setting);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_SETTING_H_
