#include "tools/profile_command/start/late_ctrl_c.h"

#include <signal.h>
#include <unistd.h>

#include <string_view>

namespace kymo::tools {

void KeepWritingAfterFirstCtrlC() {
  struct sigaction before;
  if (sigaction(SIGINT, nullptr, &before) != 0 ||
      before.sa_handler != SIG_DFL) {
    return;
  }
  struct sigaction once = {};
  once.sa_flags = SA_RESETHAND | SA_RESTART;
  once.sa_handler = [](int) {
    constexpr std::string_view kText =
        "kymo: the files are being written; Ctrl-C again ends that, too\n";
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, kText.data(), kText.size());
  };
  sigaction(SIGINT, &once, nullptr);
}

}  // namespace kymo::tools
