#include "tools/gate_command/own_words.h"

#include <utility>

#include "absl/status/statusor.h"
#include "tools/command_line/flag_words.h"
#include "tools/command_line/say.h"
#include "tools/command_line/shared_flags.h"
#include "tools/command_line/user_folder.h"

namespace kymo::tools {
namespace {

bool IsOn(const SettingMap& flags, const std::string& name) {
  const auto flag = flags.find(name);
  return flag != flags.end() && setting::ParseSwitch(flag->second) == true;
}

}  // namespace

OwnWords ReadOwnWords(const std::vector<std::string>& arguments,
                      const Manual& manual) {
  GoWhereTheUserStood();
  FlagRules rules;
  rules.own = manual.own;
  rules.plugin_settings = [] { return std::vector<SettingInfo>(); };
  absl::StatusOr<FlagWords> words = ReadFlagWords(arguments, rules);
  if (!words.ok()) return {.exit_status = Fail(words.status(), kExitUsage)};
  if (words->help) {
    const absl::StatusOr<std::string> page = ManualPage(manual, *words->help);
    if (!page.ok()) return {.exit_status = Fail(page.status(), kExitUsage)};
    return {.exit_status = Answer(*page)};
  }
  if (IsOn(words->own, "version")) return {.exit_status = Answer(kVersionLine)};
  return {.flags = std::move(words->own), .others = std::move(words->others)};
}

}  // namespace kymo::tools
