#include "tools/command_line/say.h"

#include <errno.h>
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

absl::Status PrintToStandardOutput(std::string_view text) {
  if (fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      fflush(stdout) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "could not write to standard output");
}

int Answer(std::string_view text) {
  const absl::Status status = PrintToStandardOutput(text);
  return status.ok() ? 0 : Fail(status, kExitFailed);
}

}  // namespace kymo::tools
