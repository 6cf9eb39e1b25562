#include "tools/gate_command/self_run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "tools/profile_command/start/runtime_files.h"

namespace kymo::tools {
namespace {

constexpr int kCannotStart = 127;

}  // namespace

void RewindInput() {
  static const off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (begin >= 0) lseek(STDIN_FILENO, begin, SEEK_SET);
}

absl::StatusOr<int> RunSelf(const std::vector<std::string>& words,
                            const StreamDescriptors& streams) {
  KYMO_ASSIGN_OR_RETURN(std::string self, OwnPath());
  RewindInput();
  std::vector<std::string> copies = words;
  std::vector<char*> argv = {self.data()};
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return absl::ErrnoToStatus(errno, "could not fork");
  if (child == 0) {
    // If this command is killed, so is what it runs.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(kCannotStart);
    TakeStreams(streams);
    execv(self.c_str(), argv.data());
    _exit(kCannotStart);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "could not wait");
  }
  return status;
}

absl::Status RunRecorder(const std::vector<std::string>& words,
                         const std::string& program, const std::string& result,
                         const StreamDescriptors& streams) {
  if (unlink(result.c_str()) != 0 && errno != ENOENT) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove ", result));
  }
  KYMO_ASSIGN_OR_RETURN(const int status, RunSelf(words, streams));
  absl::Status ended = CheckEnd(status, program);
  if (!ended.ok() && access(result.c_str(), F_OK) != 0) {
    ended = absl::AbortedError(absl::StrCat(
        program, " could not be recorded: ",
        CheckEnd(status, "kymo profile").message(), " and says why above"));
  }
  return ended;
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
