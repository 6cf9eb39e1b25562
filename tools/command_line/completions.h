// completions.h - scripts that complete a command line in Zsh and in Fish.
//
//   const std::string script = ZshCompletion({profile, report, gate, compare});
//
// They offer commands, the flags that --help has, with the first sentence of
// each, and the target with its arguments. manual_files.h has Bash's.
//
// Formats: zshcompsys(1) of Zsh 5.9, `complete` of Fish 3.6.
#ifndef KYMO_TOOLS_COMMAND_LINE_COMPLETIONS_H_
#define KYMO_TOOLS_COMMAND_LINE_COMPLETIONS_H_

#include <string>

#include "tools/command_line/manual_files.h"

namespace kymo::tools {

std::string ZshCompletion(const CommandManuals& manuals);
std::string FishCompletion(const CommandManuals& manuals);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_COMPLETIONS_H_
