// settings.h - declares the settings of a plugin or a command, once.
// A plugin has a struct and a table, at namespace scope:
//
//   #include "profiler/plugin/plugin_info.h"
//
//   struct CsvSettings {
//     std::string separator = ",";
//     int64_t max_rows = 1000;
//   };
//
//   kymo::SettingTable<CsvSettings> CsvTable() {
//     using S = CsvSettings;
//     return kymo::SettingTable<S>(
//         "csv", {{.name = "separator",
//                  .value = kymo::setting::Text(&S::separator),
//                  .purpose = "What stands between two columns."},
//                 {.name = "max_rows",
//                  .value = kymo::setting::Integer(&S::max_rows, 1, 1'000'000),
//                  .purpose = "Most rows of a file."}});
//   }
//
//   const kymo::PluginInfo info = {.name = "csv",
//                                  .purpose = "a line of text for each range",
//                                  .settings = CsvTable().infos()};
//
//   absl::StatusOr<CsvSettings> Given(const kymo::SettingMap& settings) {
//     return CsvTable().Read(settings);
//   }
//
// Names, types and texts stand in the table, defaults in the struct. The flag
// --csv_max_rows, its entry in --help, its key in a `settings` map, its check
// and the text of its error all follow from them.
//
// Threads: a table is immutable. Each call makes it anew: in a forked child, a
// static one may be locked for ever, by a thread of the parent.
// Errors: kInvalidArgument in one line, which says what the setting takes.
#ifndef KYMO_PROFILER_PLUGIN_SETTINGS_H_
#define KYMO_PROFILER_PLUGIN_SETTINGS_H_

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/setting_values.h"  // IWYU pragma: export

namespace kymo {

// Values as text, by the settings' full names: {"csv_max_rows", "5"}.
using SettingMap = std::map<std::string, std::string>;

// One setting without its C++ type: what help, flags and checks need.
struct SettingInfo {
  std::string name;      // in full, which is also its flag
  std::string old_name;  // a spelling that is still taken; may be empty
  std::string default_value;
  std::string takes;  // "a whole number from 1 to 5"; empty: any text
  std::string hint;   // as help shows it: --csv_max_rows=N; empty: a switch
  std::string purpose;
  std::string topic;       // --help=csv shows it
  bool is_common = false;  // --help shows it
  bool has_flag = true;
  std::function<bool(std::string_view value)> accepts;

  bool is_switch() const noexcept { return hint.empty(); }
};

// One declaration.
template <typename S>
struct Setting {
  std::string name;  // lower_snake, without the plugin's
  SettingValue<S> value;
  std::string purpose = {};   // one or two sentences
  std::string hint = {};      // in place of the type's: "PID" for "N"
  std::string old_name = {};  // in full
  std::string topic = {};     // empty: the plugin's name
  bool is_common = false;
  bool has_flag = true;  // false: a flag of the command stands for it
};

// "csv_max_rows is '0'; it takes a whole number from 1 to 5". `label` is how
// the user wrote it: csv_max_rows, --csv_max_rows.
absl::Status WrongValue(std::string_view label, std::string_view value,
                        std::string_view takes);

template <typename S>
class SettingTable {
 public:
  // `plugin` is the first part of each setting's full name. Flags of a command
  // have none.
  SettingTable(std::string_view plugin, std::vector<Setting<S>> settings) {
    const S defaults = {};
    const std::string prefix =
        plugin.empty() ? std::string() : std::string(plugin) + "_";
    for (Setting<S>& setting : settings) {
      values_.push_back(std::move(setting.value));
      const SettingValue<S>& value = values_.back();
      infos_.push_back(
          {.name = prefix + setting.name,
           .old_name = setting.old_name,
           .default_value = value.text(defaults),
           .takes = value.takes,
           .hint = setting.hint.empty() ? value.hint : setting.hint,
           .purpose = setting.purpose,
           .topic = setting.topic.empty() ? std::string(plugin) : setting.topic,
           .is_common = setting.is_common,
           .has_flag = setting.has_flag,
           .accepts = [parse = value.parse](std::string_view text) {
             S ignored = {};
             return parse(text, ignored);
           }});
    }
  }

  const std::vector<SettingInfo>& infos() const noexcept { return infos_; }

  // `settings` with the values that are given. A map may hold settings of other
  // plugins, which are not looked at.
  absl::StatusOr<S> Read(const SettingMap& given, S settings = {}) const {
    for (size_t i = 0; i < infos_.size(); ++i) {
      const auto found = given.find(infos_[i].name);
      if (found == given.end()) continue;
      if (!values_[i].parse(found->second, settings)) {
        return WrongValue(infos_[i].name, found->second, infos_[i].takes);
      }
    }
    return settings;
  }

 private:
  std::vector<SettingInfo> infos_;
  std::vector<SettingValue<S>> values_;
};

// The settings of several tables in one list.
std::vector<SettingInfo> JoinSettings(
    std::initializer_list<std::span<const SettingInfo>> lists);

// The user's settings, checked.
struct ResolvedSettings {
  SettingMap settings;               // by the names of today
  std::vector<std::string> notices;  // "max_rows is now csv_max_rows"
};

// kInvalidArgument for names that are not known (listing those that have a
// flag) and for values that a setting does not take. An old spelling stands for
// every setting that had it. If a setting is given by both names, the new one
// counts, since a map has no order. On a command line, which has one, the last
// one counts (tools/command_line/flag_words.h).
absl::StatusOr<ResolvedSettings> ResolveSettings(
    const SettingMap& given, std::span<const SettingInfo> known);

// "max_rows is now csv_max_rows"; `dashes` goes before each name.
std::string RenamedNotice(std::string_view old_name,
                          std::span<const SettingInfo* const> settings,
                          std::string_view dashes);

// The one of `names` that is most like a misspelled name, or that begins or
// ends with it (`csv` or `max_rows` for csv_max_rows). Empty if none is near.
std::string NearestName(std::string_view name,
                        std::span<const std::string> names);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_SETTINGS_H_
