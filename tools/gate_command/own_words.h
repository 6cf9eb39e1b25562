// own_words.h - the command line of a command whose flags are all its own.
//
//   const OwnWords words = ReadOwnWords(arguments, MakeGateManual());
//   if (words.exit_status) return *words.exit_status;
//   const GateFlags flags = *GateFlagTable().Read(words.flags);
#ifndef KYMO_TOOLS_GATE_COMMAND_OWN_WORDS_H_
#define KYMO_TOOLS_GATE_COMMAND_OWN_WORDS_H_

#include <optional>
#include <string>
#include <vector>

#include "profiler/plugin/settings.h"
#include "tools/command_line/manual.h"

namespace kymo::tools {

struct OwnWords {
  // The command is done: it printed --help or --version, or said an error.
  std::optional<int> exit_status;
  SettingMap flags;  // their values are checked
  std::vector<std::string> others;
};

// Goes to the folder where the user stood.
OwnWords ReadOwnWords(const std::vector<std::string>& arguments,
                      const Manual& manual);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_OWN_WORDS_H_
