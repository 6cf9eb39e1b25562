// command.h - //tools:profile from its words to its exit status.
//
//   return RunCommand({"--activities=cpu", "./server", "--port=80"});
#ifndef KYMO_TOOLS_PROFILE_COMMAND_COMMAND_H_
#define KYMO_TOOLS_PROFILE_COMMAND_COMMAND_H_

#include <string>
#include <vector>

namespace kymo::tools {

// Ends this process as the target ended, if there is one that ran
// (profile_run.h); else returns the exit status. `arguments` are all words but
// the command's name.
int RunCommand(const std::vector<std::string>& arguments);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_COMMAND_H_
