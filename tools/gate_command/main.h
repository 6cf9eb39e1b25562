// main.h - the command `kymo gate`.
#ifndef KYMO_TOOLS_GATE_COMMAND_MAIN_H_
#define KYMO_TOOLS_GATE_COMMAND_MAIN_H_

#include <string>
#include <vector>

namespace kymo::tools {

// Returns the exit status. `arguments` are all words but the command's name.
int GateMain(const std::vector<std::string>& arguments);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_MAIN_H_
