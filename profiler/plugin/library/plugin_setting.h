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
#include <vector>

#include "absl/status/statusor.h"
#include "kymo/backend_plugin.h"
#include "profiler/plugin/plugin_info.h"
#include "profiler/plugin/settings.h"

namespace kymo {

// `setting`: a copy, as CopySized() makes one.
absl::StatusOr<SettingInfo> PluginSetting(const std::string& plugin_name,
                                          const KymoSetting& setting);

// The value of each setting of a plugin, given or default, for the library.
// `names` are those of the settings without the plugin's. The result borrows
// from the arguments. A switch is "0" or "1", however the user wrote it.
std::vector<KymoSettingValue> PluginSettingValues(
    const PluginInfo& info, const std::vector<std::string>& names,
    const SettingMap& given);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_SETTING_H_
