#include "tools/report_command/main.h"

#include <signal.h>

#include "tools/command_line/large_stack.h"
#include "tools/command_line/standard_streams.h"
#include "tools/report_command/command.h"

namespace kymo::tools {

int ReportMain(const std::vector<std::string>& arguments) {
  OccupyStandardStreams();
  // A file beyond the limit of `ulimit -f` is then an error that we can say.
  signal(SIGXFSZ, SIG_IGN);
  return RunWithLargeStack([&] { return RunReport(arguments); });
}

}  // namespace kymo::tools
