// launch.h - starts a child when everything is ready, and waits for its end.
//
//   KYMO_ASSIGN_OR_RETURN(Child child, Child::Fork(words, path, environment));
//   ...                               // the child exists and waits
//   KYMO_RETURN_IF_ERROR(child.Exec());
//   while (!child.WaitFor(10 ms)) Poll();
//   ...                               // what the kernel counted is still there
//   child.Reap();
//
// Signals: the terminal sends SIGINT and SIGQUIT to the whole foreground group,
// so the child has them already and we only wait. We pass on those that were
// sent to us alone, and SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2, except the signal
// of KeepSignal. The child starts with the signal mask and dispositions that we
// were started with. If the child stops while we are in the foreground of a
// terminal, we stop, too, so that the shell gets the terminal back. When we
// continue, the child does. A child that asks its parent to trace it
// (PTRACE_TRACEME) goes on untraced.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_LAUNCH_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_LAUNCH_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/plugin/target_setup.h"

namespace kymo::tools {

// From here on a file that would exceed the limit of `ulimit -f` is an error
// (EFBIG) in this process, and no longer its end. The child keeps the signal.
void SurviveFileSizeLimit();

// Lets this process have as many open files as it may: each processor takes
// some, and so do the files that functions have their names from. The child
// keeps the limit that this process was started with. The result is a sentence
// if that is too few, or else empty.
std::string AllowMostDescriptors();

class Child {
 public:
  // Blocks the signals above in this process until the Child is gone.
  static absl::StatusOr<Child> Fork(const std::vector<std::string>& words,
                                    const std::string& path,
                                    const Environment& environment);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  // Kills a child that was never started.
  ~Child();

  pid_t pid() const noexcept { return pid_; }

  // From here on this signal (SIGUSR1 or SIGUSR2) is for us and not for the
  // child. WaitFor returns early when it has come.
  void KeepSignal(int signal) noexcept { kept_signal_ = signal; }
  // Whether it has come since the last call.
  bool TakeSignal() noexcept { return std::exchange(got_signal_, false); }

  // Lets the child exec. On failure (kNotFound, kPermissionDenied) the child
  // is gone.
  absl::Status Exec();

  // Waits for the child's end, at most `timeout_ms`; true when it has ended.
  // Its number and its files in /proc stay until Reap.
  bool WaitFor(int timeout_ms);

  // Returns wait()'s status. REQUIRES: WaitFor was true.
  int Reap();

 private:
  Child() = default;
  void LetGo(int signal);
  void StopWithChild();

  pid_t pid_ = -1;
  int go_fd_ = -1;       // closing without a byte: give up
  int error_fd_ = -1;    // the child's errno, if exec fails
  int kept_signal_ = 0;  // 0 = none
  bool got_signal_ = false;
  bool was_stopped_ = false;  // when WaitFor looked last
  bool ended_ = false;
  bool is_reaped_ = false;
  int wait_status_ = 0;
};

// Ends this process as the child ended: same exit status, or same signal.
[[noreturn]] void EndLike(int wait_status);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_LAUNCH_H_
