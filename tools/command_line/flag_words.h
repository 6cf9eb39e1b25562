// flag_words.h - the words of a command line: flags, and what is none.
//
//   FlagRules rules;
//   rules.flags = kOwnFlags;         // declared with ABSL_FLAG
//   rules.plugin_options = [&] { return OptionNames(exporters); };
//   KYMO_ASSIGN_OR_RETURN(FlagWords words, ReadFlagWords(arguments, rules));
//   absl::GetFlag(FLAGS_row_limit)
//
// A command has flags of its own, whose values are Abseil's, and every option
// that a plugin declares is a flag of that name. Flags are written --name=value
// or --name value; switches --name or --noname. After "--" nothing is a flag.
//
// Errors:  kInvalidArgument, in one line: an unknown flag (with the known
//          ones), a value that is missing or cannot be.
// Threads: Abseil's flags are global; one command line at a time.
#ifndef KYMO_TOOLS_COMMAND_LINE_FLAG_WORDS_H_
#define KYMO_TOOLS_COMMAND_LINE_FLAG_WORDS_H_

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/plugin_info.h"

namespace kymo::tools {

struct OwnFlag {
  const char* name;
  const char* value;  // as the manual shows it; null for a switch
};

enum class FlagPlace {
  kFirst,     // the first word that is no flag ends them
  kAnywhere,  // other words may stand among them
};

struct FlagRules {
  std::span<const OwnFlag> flags;
  FlagPlace place = FlagPlace::kFirst;
  // Asked again after each flag, since loading a plugin brings more.
  std::function<std::set<std::string>()> plugin_options;
  // Sees each own flag after it was set; may be empty.
  std::function<absl::Status(std::string_view name)> on_flag;
};

struct FlagWords {
  bool help = false;                            // -h, --help; reading stopped
  std::map<std::string, std::string> settings;  // of plugins
  std::vector<std::string> others;              // in their order
};

// Own flags that are not named have their defaults, whatever was read before.
absl::StatusOr<FlagWords> ReadFlagWords(
    const std::vector<std::string>& arguments, const FlagRules& rules);

// Adds a plugin's options to the names of flags.
void AddOptionNames(const PluginInfo& info, std::set<std::string>& names);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_FLAG_WORDS_H_
