// flag_words.h - splits a command line into flags and other words.
//
//   FlagRules rules;
//   rules.own = OwnTable().infos();    // a SettingTable without a prefix
//   rules.plugin_settings = [&] { return exporter->info().settings; };
//   KYMO_ASSIGN_OR_RETURN(FlagWords words, ReadFlagWords(arguments, rules));
//   KYMO_ASSIGN_OR_RETURN(const OwnFlags flags, OwnTable().Read(words.own));
//
// A command has flags of its own, and every setting of a plugin is a flag, too
// (profiler/plugin/settings.h). Flags are written --name=value or --name value;
// switches --name or --noname. After "--" nothing is a flag. A flag's old
// spelling still works, and a notice gives the new one. If a flag of the
// command has the name of an old spelling, the command's flag counts.
//
// Errors: kInvalidArgument, in one line: an unknown flag (with the nearest), a
//         value that is missing or wrong. kAlreadyExists if a plugin that was
//         loaded has a setting whose name is taken.
#ifndef KYMO_TOOLS_COMMAND_LINE_FLAG_WORDS_H_
#define KYMO_TOOLS_COMMAND_LINE_FLAG_WORDS_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/settings.h"

namespace kymo::tools {

enum class FlagPlace {
  kFirst,     // the first word that is no flag ends them
  kAnywhere,  // other words may stand among them
};

struct FlagRules {
  std::span<const SettingInfo> own;
  FlagPlace place = FlagPlace::kFirst;
  // Asked again after each flag, since loading a plugin brings more.
  std::function<std::vector<SettingInfo>()> plugin_settings;
  // Called with each own flag and its value, which is already checked. May be
  // empty.
  std::function<absl::Status(std::string_view name, std::string_view value)>
      on_flag;
};

struct FlagWords {
  // -h, --help (empty) or --help=TOPIC; reading stopped there.
  std::optional<std::string> help;
  SettingMap own;                    // for Read() of the command's table
  SettingMap settings;               // of plugins, by their names of today
  std::vector<std::string> notices;  // "--device is now ..."; each once
  std::vector<std::string> others;   // in their order
};

// A flag that is given twice has its last value, whether it is spelled the old
// way or the new. In a map of settings the new spelling counts instead
// (ResolveSettings in profiler/plugin/settings.h).
absl::StatusOr<FlagWords> ReadFlagWords(
    const std::vector<std::string>& arguments, const FlagRules& rules);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_FLAG_WORDS_H_
