#include "tools/profile_command/main.h"

#include "tools/command_line/large_stack.h"
#include "tools/command_line/standard_streams.h"
#include "tools/profile_command/command.h"

namespace kymo::tools {

int ProfileMain(const std::vector<std::string>& arguments) {
  OccupyStandardStreams();
  return RunWithLargeStack([&] { return RunCommand(arguments); });
}

}  // namespace kymo::tools
