#include "tools/command_line/say.h"

#include <stdio.h>

#include "profiler/text/visible_text.h"

namespace kymo::tools {

void Say(const std::string& line) {
  fprintf(stderr, "kymo: %s\n", VisibleLines(line).c_str());
}

int Fail(const absl::Status& status, int exit_status) {
  Say(std::string(status.message()));
  return exit_status;
}

}  // namespace kymo::tools
