// main.h - runs the command `profile`.
//
//   int main(int argc, char** argv) {
//     return kymo::tools::ProfileMain({argv + 1, argv + argc});
//   }
#ifndef KYMO_TOOLS_PROFILE_COMMAND_MAIN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_MAIN_H_

#include <string>
#include <vector>

namespace kymo::tools {

// Returns the exit status. If a signal ended the target, it ends this process,
// too, and the function does not return. Call it once, from main().
int ProfileMain(const std::vector<std::string>& arguments);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_MAIN_H_
