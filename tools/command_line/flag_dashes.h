// flag_dashes.h - names of settings as flags, for the command's user.
//
//   Say(WithFlagDashes("raise sampling_hz"));   // raise --sampling_hz
//
// The texts of the ledger name settings without dashes, as a program sets them
// by these names. On the command line, the same settings are flags.
#ifndef KYMO_TOOLS_COMMAND_LINE_FLAG_DASHES_H_
#define KYMO_TOOLS_COMMAND_LINE_FLAG_DASHES_H_

#include <string>

namespace kymo::tools {

// Puts "--" before each setting that a text of the ledger names, unless it is
// there. Other names with underscores, such as a counter's, stay.
std::string WithFlagDashes(std::string text);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_FLAG_DASHES_H_
