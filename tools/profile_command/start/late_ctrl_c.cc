#include "tools/profile_command/start/late_ctrl_c.h"

#include <signal.h>
#include <unistd.h>

#include <string_view>

namespace kymo::tools {
namespace {

constexpr std::string_view kOfThisProcess =
    "kymo: the files are being written; Ctrl-C again ends that, too\n";
constexpr std::string_view kOfRank =
    "kymo: the files are being written; Ctrl-C again ends this command, but "
    "the answer of the job will be written\n";

template <const std::string_view& text>
void SayOnce(int) {
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void KeepWritingAfterFirstCtrlC(FilesOf files) {
  struct sigaction before;
  if (sigaction(SIGINT, nullptr, &before) != 0 ||
      before.sa_handler != SIG_DFL) {
    return;
  }
  struct sigaction once = {};
  once.sa_flags = SA_RESETHAND | SA_RESTART;
  once.sa_handler =
      files == FilesOf::kRankOfJob ? SayOnce<kOfRank> : SayOnce<kOfThisProcess>;
  sigaction(SIGINT, &once, nullptr);
}

}  // namespace kymo::tools
