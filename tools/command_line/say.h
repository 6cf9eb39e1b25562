// say.h - what a command tells its user: its answer on standard output, all
// else on standard error.
//
//   Say("wrote out");                              // kymo: wrote out
//   if (!status.ok()) return Fail(status, kExitUsage);
//   if (is_help) return Answer(page);
#ifndef KYMO_TOOLS_COMMAND_LINE_SAY_H_
#define KYMO_TOOLS_COMMAND_LINE_SAY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace kymo::tools {

// Exit statuses of all commands.
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Control characters of the text are shown, not sent to the terminal.
void Say(const std::string& line);

// Says the error, and returns the exit status.
int Fail(const absl::Status& status, int exit_status);

// Writes to standard output at once. An error says that it could not, as where
// the disk is full.
absl::Status PrintToStandardOutput(std::string_view text);

// Does so, and returns the exit status: kExitFailed after an error, which it
// says.
int Answer(std::string_view text);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_SAY_H_
