#include "tools/profile_command/start/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

extern char** environ;

namespace kymo::tools {
namespace {

constexpr int kHandled[] = {SIGCHLD, SIGINT,  SIGQUIT, SIGTERM,
                            SIGHUP,  SIGUSR1, SIGUSR2};

sigset_t HandledSet() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kHandled) sigaddset(&set, signal);
  return set;
}

// The signal settings that this process was started with. The child gets them,
// and this process gets them back afterwards.
sigset_t original_mask;
struct sigaction original_child_action;
struct sigaction original_file_size_action;
// Nothing: AllowMostDescriptors has not been called.
std::optional<rlimit> original_descriptors;

void TakeSignals() {
  const sigset_t handled = HandledSet();
  sigprocmask(SIG_BLOCK, &handled, &original_mask);
  // If SIGCHLD were ignored, the kernel would not give us the child's status.
  struct sigaction normal = {};
  normal.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &normal, &original_child_action);
}

void GiveSignalsBack() {
  sigaction(SIGCHLD, &original_child_action, nullptr);
  // Signals for the child that came while it ended are not for this process.
  const sigset_t handled = HandledSet();
  const timespec at_once = {0, 0};
  while (sigtimedwait(&handled, nullptr, &at_once) > 0) {
  }
  sigprocmask(SIG_SETMASK, &original_mask, nullptr);
}

// Whether a shell waits for us in the foreground of a terminal.
bool IsForegroundJob() {
  const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return false;
  const pid_t group = tcgetpgrp(terminal);
  close(terminal);
  return group == getpgrp();
}

std::vector<std::string> MergedEnvironment(const Environment& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : added) {
    merged.push_back(name + "=" + value);
  }
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The child's code between fork and exec.
[[noreturn]] void RunChild(int go_fd, int error_fd, const char* path,
                           char** argv, char** envp) {
  char go = 0;
  if (TEMP_FAILURE_RETRY(read(go_fd, &go, 1)) != 1) _exit(127);
  sigaction(SIGCHLD, &original_child_action, nullptr);
  sigaction(SIGXFSZ, &original_file_size_action, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask, nullptr);
  if (original_descriptors) setrlimit(RLIMIT_NOFILE, &*original_descriptors);
  execve(path, argv, envp);
  int error = errno;
  if (error == ENOEXEC) {
    // A script without a #! line, which shells run, too.
    std::vector<char*> shell = {const_cast<char*>("/bin/sh"),
                                const_cast<char*>(path)};
    for (char** word = argv + 1; *word != nullptr; ++word) {
      shell.push_back(*word);
    }
    shell.push_back(nullptr);
    execve(shell[0], shell.data(), envp);
    error = errno;
  }
  const ssize_t ignored = write(error_fd, &error, sizeof(error));
  (void)ignored;
  _exit(127);
}

absl::Status NoPipe(int error) {
  return absl::ErrnoToStatus(
      error, error == EMFILE ? "could not make a pipe; try a larger limit of "
                               "open files (ulimit -n)"
                             : "could not make a pipe");
}

}  // namespace

void SurviveFileSizeLimit() {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &original_file_size_action);
}

std::string AllowMostDescriptors() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return "";
  original_descriptors = limit;
  // Root may have more than the limit says.
  constexpr rlim_t kMost = 1 << 16;
  const rlimit more = {std::max(limit.rlim_max, kMost),
                       std::max(limit.rlim_max, kMost)};
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &more) == 0 ||
      setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return "";
  }
  const rlim_t wanted =
      64 + 8 * static_cast<rlim_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  if (limit.rlim_cur >= wanted) return "";
  return absl::StrCat(
      "only ", limit.rlim_cur,
      " files may be open: functions may lack their names, and stacks their "
      "callers; allow ",
      wanted, " (ulimit -n ", wanted, ")");
}

absl::StatusOr<Child> Child::Fork(const std::vector<std::string>& words,
                                  const std::string& path,
                                  const Environment& environment) {
  std::vector<std::string> argv_words = words;
  std::vector<std::string> env_words = MergedEnvironment(environment);
  std::vector<char*> argv = Pointers(argv_words);
  std::vector<char*> envp = Pointers(env_words);
  int go[2], error[2];
  if (pipe2(go, O_CLOEXEC) != 0) {
    return NoPipe(errno);
  }
  if (pipe2(error, O_CLOEXEC) != 0) {
    const int saved = errno;
    close(go[0]);
    close(go[1]);
    return NoPipe(saved);
  }
  TakeSignals();
  const pid_t pid = fork();
  if (pid == 0) {
    close(go[1]);
    close(error[0]);
    RunChild(go[0], error[1], path.c_str(), argv.data(), envp.data());
  }
  const int saved = errno;
  close(go[0]);
  close(error[1]);
  if (pid < 0) {
    GiveSignalsBack();
    close(go[1]);
    close(error[0]);
    return absl::ErrnoToStatus(saved, "could not start a process");
  }
  Child child;
  child.pid_ = pid;
  child.go_fd_ = go[1];
  child.error_fd_ = error[0];
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      go_fd_(std::exchange(other.go_fd_, -1)),
      error_fd_(std::exchange(other.error_fd_, -1)),
      was_stopped_(other.was_stopped_),
      ended_(other.ended_),
      is_reaped_(other.is_reaped_),
      wait_status_(other.wait_status_) {}

Child::~Child() {
  if (go_fd_ >= 0) {
    // The child was never started: it reads the end of the pipe and exits.
    close(go_fd_);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  if (error_fd_ >= 0) close(error_fd_);
  if (pid_ > 0) GiveSignalsBack();
}

absl::Status Child::Exec() {
  const char go = 1;
  const ssize_t written = write(go_fd_, &go, 1);
  close(std::exchange(go_fd_, -1));
  int error = 0;
  // The pipe ends without a byte when the program runs.
  if (written != 1 || TEMP_FAILURE_RETRY(read(
                          error_fd_, &error, sizeof(error))) != sizeof(error)) {
    return absl::OkStatus();
  }
  ended_ = true;
  Reap();
  return error == ENOENT ? absl::NotFoundError(strerror(error))
                         : absl::PermissionDeniedError(strerror(error));
}

bool Child::WaitFor(int timeout_ms) {
  if (ended_) return true;
  const sigset_t handled = HandledSet();
  const timespec timeout = {timeout_ms / 1000,
                            (timeout_ms % 1000) * 1'000'000L};
  siginfo_t info = {};
  const int signal = sigtimedwait(&handled, &info, &timeout);
  const bool from_terminal = info.si_code == SI_KERNEL;
  if (signal > 0 && signal == kept_signal_) {
    got_signal_ = true;
  } else if (signal > 0 && signal != SIGCHLD &&
             !((signal == SIGINT || signal == SIGQUIT) && from_terminal)) {
    kill(pid_, signal);
  }
  siginfo_t end = {};
  // ECHILD: other code took the child's status, so it is not known.
  const bool is_known = waitid(P_PID, static_cast<id_t>(pid_), &end,
                               WEXITED | WNOHANG | WNOWAIT) == 0;
  // The kernel tells of a traced child's stops, asked or not.
  const bool is_trapped =
      is_known && end.si_pid == pid_ && end.si_code == CLD_TRAPPED;
  ended_ = !is_known || (end.si_pid == pid_ && !is_trapped);
  if (is_trapped) {
    LetGo(end.si_status);
  } else if (!ended_) {
    StopWithChild();
  }
  return ended_;
}

// The child has asked us to trace it (PTRACE_TRACEME), so each signal stops it.
// It goes on without a tracer, and with the signal. The exception is a SIGTRAP
// that the kernel sends for an exec: it is for the tracer alone.
void Child::LetGo(int signal) {
  siginfo_t info = {};
  ptrace(PTRACE_GETSIGINFO, pid_, nullptr, &info);
  const bool is_of_exec =
      signal == SIGTRAP && info.si_code == SI_USER && info.si_pid == pid_;
  const long passed_on = is_of_exec ? 0 : signal;
  ptrace(PTRACE_DETACH, pid_, nullptr, passed_on);
}

int Child::Reap() {
  if (!std::exchange(is_reaped_, true)) waitpid(pid_, &wait_status_, 0);
  return wait_status_;
}

// Ctrl-Z stops the whole foreground group. If only the child was stopped, its
// shell waits for us to stop, too.
void Child::StopWithChild() {
  siginfo_t info = {};
  const bool is_stopped = waitid(P_PID, static_cast<id_t>(pid_), &info,
                                 WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
                          info.si_pid == pid_;
  // A shell that continues the group may reach the child after us. So a stop
  // counts from the second look on.
  if (std::exchange(was_stopped_, is_stopped) && is_stopped &&
      IsForegroundJob()) {
    raise(SIGSTOP);
    kill(pid_, SIGCONT);
    was_stopped_ = false;
  }
}

void EndLike(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    // If the child dumped a core, that one stays. A second one of ours would
    // only confuse.
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    ::signal(signal, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    kill(getpid(), signal);
    _exit(128 + signal);
  }
  exit(WEXITSTATUS(wait_status));
}

}  // namespace kymo::tools
