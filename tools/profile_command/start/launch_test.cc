// Long, because each setting and signal of a target has its test.
#include "tools/profile_command/start/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "tests/support/test_threads.h"

namespace kymo::tools {
namespace {

using Words = std::vector<std::string>;

// wait()'s status of a program's end; -1 if it could not be started.
int EndOf(const Words& words, const std::string& path,
          const Environment& environment = {}) {
  auto child = Child::Fork(words, path, environment);
  if (!child.ok() || !child->Exec().ok()) return -1;
  while (!child->WaitFor(/*timeout_ms=*/1000)) {
  }
  return child->Reap();
}

// Of a program that ends with 0 if /proc/self/status has a line like `pattern`,
// else with 1.
int StatusOf(const std::string& pattern) {
  return EndOf({"grep", "-qE", pattern, "/proc/self/status"}, "/bin/grep");
}

int EndOfScript(const std::string& script,
                const Environment& environment = {}) {
  return EndOf({"sh", "-c", script}, "/bin/sh", environment);
}

// A process that runs `work` and ends with what it returns.
pid_t Start(const std::function<int()>& work) {
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  return pid;
}

int Wait(pid_t pid, int options = 0) {
  int status = -1;
  while (waitpid(pid, &status, options) < 0 && errno == EINTR) {
  }
  return status;
}

constexpr int Exited(int status) { return status << 8; }

// SigIgn is a mask in hexadecimal digits. SIGCHLD is 17, so its bit is the
// lowest one of the fifth digit from the right.
constexpr char kIgnoresChild[] = "^SigIgn:\\s*[0-9a-f]*[13579bdf][0-9a-f]{4}$";
static_assert(SIGCHLD == 17);

TEST(LaunchTest, AnIgnoredSignalOfChildrenIsIgnoredInTheTarget) {
  struct sigaction ignore = {}, before = {}, after = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignore, &before);
  // The status of the child is still known.
  EXPECT_EQ(StatusOf(kIgnoresChild), 0);
  EXPECT_EQ(WEXITSTATUS(StatusOf("^NoSuchLine:")), 1);
  // And this process ignores the signal again.
  sigaction(SIGCHLD, &before, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
}

TEST(LaunchTest, ASignalThatIsNotIgnoredIsNotIgnoredInTheTarget) {
  EXPECT_EQ(WEXITSTATUS(StatusOf(kIgnoresChild)), 1);
}

// SIGXFSZ is 25: the lowest bit of the seventh digit.
TEST(LaunchTest, TheLimitOfFileSizesIsAnErrorHereAndASignalInTheTarget) {
  static_assert(SIGXFSZ == 25);
  struct sigaction before = {}, during = {};
  sigaction(SIGXFSZ, nullptr, &before);
  SurviveFileSizeLimit();
  sigaction(SIGXFSZ, nullptr, &during);
  EXPECT_EQ(during.sa_handler, SIG_IGN);
  EXPECT_EQ(StatusOf("^SigIgn:\\s*[0-9a-f]*[02468ace][0-9a-f]{6}$"), 0);
  sigaction(SIGXFSZ, &before, nullptr);
}

TEST(LaunchTest, WeMayOpenMoreFilesThanTheTarget) {
  const int status = Wait(Start([] {
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
    limit.rlim_cur = 30;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 3;
    AllowMostDescriptors();
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= 30) return 4;
    return EndOfScript("test $(ulimit -Sn) = 30") == 0 ? 0 : 5;
  }));
  EXPECT_EQ(status, Exited(0));
}

TEST(LaunchTest, TheTargetHasOurMaskAndSoHaveWeAgain) {
  EXPECT_EQ(StatusOf("^SigBlk:\\s*0+$"), 0);
  sigset_t set, before, after;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);  // 12: bit 11
  sigprocmask(SIG_BLOCK, &set, &before);
  EXPECT_EQ(StatusOf("^SigBlk:\\s*0*800$"), 0);
  sigprocmask(SIG_SETMASK, &before, &after);
  EXPECT_TRUE(sigismember(&after, SIGUSR2));
  EXPECT_FALSE(sigismember(&after, SIGTERM));
  EXPECT_FALSE(sigismember(&after, SIGCHLD));
}

TEST(LaunchTest, TheStatusIsTheTargets) {
  EXPECT_EQ(EndOfScript("exit 7"), Exited(7));
  EXPECT_EQ(EndOfScript("kill -KILL $$"), SIGKILL);
}

TEST(LaunchTest, VariablesAreAddedAndReplaced) {
  setenv("KYMO_KEPT", "kept", 1);
  setenv("KYMO_REPLACED", "old", 1);
  EXPECT_EQ(EndOfScript("test \"$KYMO_KEPT$KYMO_REPLACED$KYMO_ADDED\" = "
                        "keptnewadded || exit 1;"
                        "tr '\\0' '\\n' < /proc/$$/environ |"
                        " test $(grep -c ^KYMO_REPLACED=) = 1",
                        {{"KYMO_ADDED", "added"}, {"KYMO_REPLACED", "new"}}),
            0);
}

class ProgramTest : public testing::Test {
 protected:
  absl::Status StatusOfExec(const std::string& path) {
    auto child = Child::Fork({"program"}, path, {});
    EXPECT_TRUE(child.ok()) << child.status();
    const absl::Status status = child->Exec();
    // The child is gone.
    EXPECT_TRUE(child->WaitFor(10'000));
    EXPECT_EQ(child->Reap(), Exited(127));
    EXPECT_EQ(kill(child->pid(), 0), -1);
    return status;
  }

  // A file of the test.
  std::string File(const std::string& text, mode_t mode) {
    std::string path = testing::TempDir() + "/launched";
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
};

TEST_F(ProgramTest, WhatCannotRunIsSaid) {
  EXPECT_EQ(StatusOfExec("/no/such/program"),
            absl::NotFoundError("No such file or directory"));
  EXPECT_EQ(StatusOfExec(File("text", 0600)),
            absl::PermissionDeniedError("Permission denied"));
}

TEST_F(ProgramTest, AScriptWithoutAFirstLineIsForTheShell) {
  const std::string path =
      File("test $# = 2 && test \"$1\" = \"a b\" && test \"$2\" = c && exit 5",
           0700);
  EXPECT_EQ(EndOf({"script", "a b", "c"}, path), Exited(5));
}

TEST(LaunchTest, WaitsAsLongAsAskedFor) {
  auto child = Child::Fork({"sleep", "1000"}, "/bin/sleep", {});
  ASSERT_TRUE(child.ok() && child->Exec().ok());
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  EXPECT_FALSE(child->WaitFor(/*timeout_ms=*/40));
  clock_gettime(CLOCK_MONOTONIC, &end);
  const int64_t ms = (end.tv_sec - begin.tv_sec) * 1000 +
                     (end.tv_nsec - begin.tv_nsec) / 1'000'000;
  EXPECT_GE(ms, 39);
  kill(child->pid(), SIGKILL);
  while (!child->WaitFor(1000)) {
  }
  EXPECT_EQ(child->Reap(), SIGKILL);
  EXPECT_TRUE(child->WaitFor(1000));
}

TEST(LaunchTest, WhatTheKernelCountedStaysUntilTheChildIsReaped) {
  auto child = Child::Fork({"true"}, "/bin/true", {});
  ASSERT_TRUE(child.ok() && child->Exec().ok());
  while (!child->WaitFor(1000)) {
  }
  const std::string io = "/proc/" + std::to_string(child->pid()) + "/io";
  std::string first;
  EXPECT_TRUE(std::getline(std::ifstream(io), first));
  EXPECT_EQ(first.substr(0, 7), "rchar: ");
  EXPECT_EQ(child->Reap(), Exited(0));
  EXPECT_FALSE(std::ifstream(io).good());
}

TEST(LaunchTest, AStatusThatOtherCodeTookIsAnEnd) {
  auto child = Child::Fork({"true"}, "/bin/true", {});
  ASSERT_TRUE(child.ok() && child->Exec().ok());
  Wait(child->pid());
  EXPECT_TRUE(child->WaitFor(1000));
}

TEST(LaunchTest, SignalsToUsAloneArePassedOn) {
  for (const int number :
       {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT}) {
    // A shell's background jobs, as which tests may run, ignore some.
    signal(number, SIG_DFL);
    auto child = Child::Fork({"sleep", "10"}, "/bin/sleep", {});
    ASSERT_TRUE(child.ok() && child->Exec().ok());
    kill(getpid(), number);
    while (!child->WaitFor(1000)) {
    }
    EXPECT_FALSE(child->TakeSignal());
    EXPECT_TRUE(WIFSIGNALED(child->Reap()));
    EXPECT_EQ(WTERMSIG(child->Reap()), number);
  }
}

TEST(LaunchTest, AKeptSignalIsNotPassedOn) {
  auto child = Child::Fork({"sleep", "10"}, "/bin/sleep", {});
  ASSERT_TRUE(child.ok() && child->Exec().ok());
  child->KeepSignal(SIGUSR1);
  EXPECT_FALSE(child->TakeSignal());
  kill(getpid(), SIGUSR1);
  EXPECT_FALSE(child->WaitFor(10'000));
  EXPECT_TRUE(child->TakeSignal());
  EXPECT_FALSE(child->TakeSignal());
  kill(getpid(), SIGUSR2);
  while (!child->WaitFor(1000)) {
  }
  EXPECT_EQ(WTERMSIG(child->Reap()), SIGUSR2);
}

TEST(LaunchTest, AChildThatIsNeverStartedIsGone) {
  pid_t pid = 0;
  {
    auto child = Child::Fork({"sleep", "10"}, "/bin/sleep", {});
    ASSERT_TRUE(child.ok());
    Child moved = *std::move(child);
    pid = moved.pid();
    EXPECT_EQ(kill(pid, 0), 0);
    // What came for the child does not end this process.
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGTERM);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST(LaunchTest, NoDescriptorsAreAnErrorAndNoneIsLeftOpen) {
  for (const rlim_t free : {0, 1, 2, 3}) {
    EXPECT_EQ(Wait(Start([&] {
                const int first = dup(0);
                close(first);
                const rlimit few = {first + free, first + free};
                setrlimit(RLIMIT_NOFILE, &few);
                const auto child = Child::Fork({"true"}, "/bin/true", {});
                if (!absl::StrContains(child.status().message(),
                                       "could not make a pipe; try a larger "
                                       "limit of open files (ulimit -n)")) {
                  return 1;
                }
                return fcntl(first, F_GETFD) == -1 ? 0 : 2;
              })),
              0);
  }
}

// A process whose terminal is `other_end`'s.
pid_t StartOnTerminal(int* other_end, const std::function<int()>& work) {
  int terminal = -1;
  EXPECT_EQ(openpty(other_end, &terminal, nullptr, nullptr, nullptr), 0);
  const pid_t pid = Start([&] {
    setsid();
    ioctl(terminal, TIOCSCTTY, 0);
    close(*other_end);
    return work();
  });
  close(terminal);
  return pid;
}

// The terminal has sent it to the target, too, if that is to have it.
TEST(LaunchTest, SignalsOfTheTerminalAreNotPassedOn) {
  int ready[2], pressed[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(pressed, O_CLOEXEC), 0);
  int terminal = -1;
  const pid_t pid = StartOnTerminal(&terminal, [&] {
    // Out of the terminal's reach. It lives until the keys were pressed.
    dup2(pressed[0], 0);
    close(pressed[1]);
    auto child = Child::Fork({"setsid", "cat"}, "/usr/bin/setsid", {});
    if (!child.ok() || !child->Exec().ok()) return 99;
    while (getsid(child->pid()) != child->pid()) usleep(1000);
    if (write(ready[1], "r", 1) != 1) return 98;
    while (!child->WaitFor(1000)) {
    }
    return child->Reap() == 0 ? 0 : 1;
  });
  char got = 0;
  ASSERT_EQ(read(ready[0], &got, 1), 1);
  for (const char key : {'\x03', '\x1c'}) {  // ^C and ^\ send the signals
    EXPECT_EQ(write(terminal, &key, 1), 1);
    // The terminal shows "^C" when it has sent the signal.
    char shown[2];
    EXPECT_EQ(read(terminal, &shown[0], 1), 1);
    EXPECT_EQ(read(terminal, &shown[1], 1), 1);
  }
  close(pressed[1]);
  EXPECT_EQ(Wait(pid), 0);
  for (const int fd : {ready[0], ready[1], pressed[0], terminal}) close(fd);
}

int RunStoppingTarget() {
  auto child =
      Child::Fork({"sh", "-c", "kill -STOP $$; exit 7"}, "/bin/sh", {});
  if (!child.ok() || !child->Exec().ok()) return 99;
  int looks_while_stopped = 0;
  while (!child->WaitFor(5)) {
    const auto stat = ReadThreadStat(std::to_string(child->pid()));
    if (!stat || stat->state != 'T') continue;
    // Without a terminal nobody else lets it go on.
    if (++looks_while_stopped == 40) kill(child->pid(), SIGCONT);
  }
  return WEXITSTATUS(child->Reap());
}

TEST(LaunchTest, InTheForegroundOfATerminalWeStopWithTheTarget) {
  int terminal = -1;
  const pid_t pid = StartOnTerminal(&terminal, RunStoppingTarget);
  const int status = Wait(pid, WUNTRACED);
  EXPECT_TRUE(WIFSTOPPED(status)) << status;
  kill(pid, SIGCONT);
  EXPECT_EQ(Wait(pid), Exited(7));
  close(terminal);
}

TEST(LaunchTest, WithoutATerminalWeDoNotStop) {
  const pid_t pid = Start([] {
    setsid();
    return RunStoppingTarget();
  });
  EXPECT_EQ(Wait(pid, WUNTRACED), Exited(7));
}

TEST(LaunchTest, InTheBackgroundOfATerminalWeDoNotStop) {
  int terminal = -1;
  const pid_t pid = StartOnTerminal(&terminal, [] {
    const pid_t background = Start([] {
      setpgid(0, 0);
      return RunStoppingTarget();
    });
    return Wait(background, WUNTRACED) == Exited(7) ? 0 : 1;
  });
  EXPECT_EQ(Wait(pid), 0);
  close(terminal);
}

// What it runs is a program in Perl, which begins with PTRACE_TRACEME.
int EndOfTraced(const std::string& program) {
  return EndOf({"perl", "-e",
                "syscall(" + std::to_string(SYS_ptrace) + ", 0, 0, 0, 0) == 0" +
                    " or exit 2; " + program},
               "/usr/bin/perl");
}

TEST(LaunchTest, ATargetThatWantsToBeTracedIsNotTakenForEnded) {
  // The signal reaches the target.
  EXPECT_EQ(EndOfTraced("$SIG{USR1} = sub { $seen = 1 }; kill 'USR1', $$;"
                        "exit($seen ? 7 : 3)"),
            Exited(7));
  EXPECT_EQ(EndOfTraced("kill 'TERM', $$; sleep 10"), SIGTERM);
  // The SIGTRAP of an exec does not: nobody would have sent it.
  EXPECT_EQ(EndOfTraced("exec 'sh', '-c', 'exit 7'"), Exited(7));
}

TEST(LaunchTest, EndsAsTheChildEnded) {
  EXPECT_EQ(Wait(Start([]() -> int { EndLike(Exited(7)); })), Exited(7));
  // A program that takes cores through a pipe gets them whatever the limit.
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern") >> std::ws,
               pattern);
  for (const int fatal : {SIGTERM, SIGSEGV}) {
    // Although cores are wanted here, and the signal is neither let through nor
    // fatal.
    const int status = Wait(Start([&]() -> int {
      const rlimit cores = {RLIM_INFINITY, RLIM_INFINITY};
      setrlimit(RLIMIT_CORE, &cores);
      signal(fatal, SIG_IGN);
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, fatal);
      sigprocmask(SIG_BLOCK, &set, nullptr);
      EndLike(fatal);
    }));
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), fatal);
    EXPECT_FALSE(WCOREDUMP(status) && !pattern.starts_with("|"));
  }
}

}  // namespace
}  // namespace kymo::tools
