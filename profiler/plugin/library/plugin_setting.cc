#include "profiler/plugin/library/plugin_setting.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/plugin/library/plugin_records.h"

namespace kymo {
namespace {

absl::Status SetKind(const KymoSetting& setting, SettingInfo& info) {
  switch (setting.kind) {
    case KYMO_SETTING_SWITCH:
      info.takes = "0 or 1";
      info.accepts = [](std::string_view text) {
        return setting::ParseSwitch(text).has_value();
      };
      return absl::OkStatus();
    case KYMO_SETTING_INTEGER: {
      const int64_t least = setting.least;
      const int64_t most = setting.most;
      info.takes = setting::IntegerRange(least, most, "");
      info.hint = "N";
      info.accepts = [least, most](std::string_view text) {
        return setting::ParseInteger(text, least, most).has_value();
      };
      return absl::OkStatus();
    }
    case KYMO_SETTING_REAL: {
      const double least = setting.real_least;
      const double most = setting.real_most;
      if (!std::isfinite(least) || !std::isfinite(most)) {
        return absl::InvalidArgumentError("a limit is not a finite number");
      }
      info.takes = setting::RealRange(least, most, "");
      info.hint = "X";
      info.accepts = [least, most](std::string_view text) {
        return setting::ParseReal(text, least, most).has_value();
      };
      return absl::OkStatus();
    }
    case KYMO_SETTING_TEXT:
      info.hint = "TEXT";
      info.accepts = [](std::string_view) { return true; };
      return absl::OkStatus();
    case KYMO_SETTING_WORD: {
      const std::vector<std::string> words =
          setting::SplitList(PluginText(setting.words));
      info.takes = absl::StrCat("one of: ",
                                setting::ListWords(setting::SameWords(words)));
      info.hint = "WORD";
      info.accepts = [words](std::string_view text) {
        return std::find(words.begin(), words.end(), text) != words.end();
      };
      return absl::OkStatus();
    }
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("there is no kind ", setting.kind));
  }
}

}  // namespace

absl::StatusOr<SettingInfo> PluginSetting(const std::string& plugin_name,
                                          const KymoSetting& setting) {
  SettingInfo info;
  const std::string name = PluginText(setting.name);
  info.name = absl::StrCat(plugin_name, "_", name);
  info.default_value = PluginText(setting.default_value);
  info.purpose = PluginText(setting.purpose);
  info.topic = plugin_name;
  if (absl::Status status = SetKind(setting, info); !status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("its setting ", name, ": ", status.message()));
  }
  if (info.purpose.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("its setting ", name, " has no purpose"));
  }
  if (!info.accepts(info.default_value)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "its setting ", name, " does not take its own default: ",
        WrongValue(name, info.default_value, info.takes).message()));
  }
  return info;
}

std::vector<KymoSettingValue> PluginSettingValues(
    const PluginInfo& info, const std::vector<std::string>& names,
    const SettingMap& given) {
  std::vector<KymoSettingValue> values;
  values.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const SettingInfo& setting = info.settings[i];
    const auto found = given.find(setting.name);
    const std::string& text =
        found == given.end() ? setting.default_value : found->second;
    const char* value = text.c_str();
    if (setting.is_switch()) {
      value = setting::ParseSwitch(text).value_or(false) ? "1" : "0";
    }
    values.push_back({names[i].c_str(), value});
  }
  return values;
}

}  // namespace kymo
