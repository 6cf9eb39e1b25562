#include "tools/gate_command/self_run.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

extern char** environ;

namespace kymo::tools {

absl::StatusOr<std::string> SelfPath() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0 || length == sizeof(path)) {
    return absl::ErrnoToStatus(errno, "could not find this program's file");
  }
  return std::string(path, static_cast<size_t>(length));
}

void RewindInput() {
  static const off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (begin >= 0) lseek(STDIN_FILENO, begin, SEEK_SET);
}

absl::StatusOr<int> RunSelf(const std::vector<std::string>& words) {
  KYMO_ASSIGN_OR_RETURN(std::string self, SelfPath());
  RewindInput();
  std::vector<std::string> copies = words;
  std::vector<char*> argv = {self.data()};
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, self.c_str(), nullptr, nullptr, argv.data(), environ);
  if (error != 0) {
    return absl::ErrnoToStatus(error, absl::StrCat("could not start ", self));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "could not wait");
  }
  return status;
}

absl::Status CheckEnd(int wait_status, const std::string& program) {
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
    return absl::OkStatus();
  }
  if (WIFSIGNALED(wait_status)) {
    return absl::AbortedError(
        absl::StrCat(program, " was ended by signal ", WTERMSIG(wait_status),
                     " (", strsignal(WTERMSIG(wait_status)), ")"));
  }
  return absl::AbortedError(
      absl::StrCat(program, " ended with status ", WEXITSTATUS(wait_status)));
}

}  // namespace kymo::tools
