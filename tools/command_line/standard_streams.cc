#include "tools/command_line/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace kymo::tools {

void OccupyStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // Takes the lowest number that is free, which is this one.
    if (open("/", O_PATH | O_CLOEXEC) != fd) return;
  }
}

}  // namespace kymo::tools
