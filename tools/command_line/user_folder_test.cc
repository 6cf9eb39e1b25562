// Also what else a command does to its process: standard streams, a large
// stack, lines on standard error.
#include "tools/command_line/user_folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "tools/command_line/large_stack.h"
#include "tools/command_line/say.h"
#include "tools/command_line/standard_streams.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

class UserFolderTest : public testing::Test {
 protected:
  UserFolderTest() : before_(fs::current_path()) {
    unsetenv("BUILD_WORKING_DIRECTORY");
  }
  ~UserFolderTest() override {
    unsetenv("BUILD_WORKING_DIRECTORY");
    fs::current_path(before_);
  }

  const fs::path before_;
};

TEST_F(UserFolderTest, PathsAreRelativeToWhereTheUserStood) {
  fs::current_path("/proc");
  EXPECT_EQ(UserPath("out"), "/proc/out");
  EXPECT_EQ(ShownPath("/proc/out"), "out");
  setenv("BUILD_WORKING_DIRECTORY", "/home/user", 1);
  EXPECT_EQ(UserPath("out"), "/home/user/out");
  EXPECT_EQ(UserPath("a/../b"), "/home/user/b");
  EXPECT_EQ(UserPath("/a/../b"), "/a/../b");
  EXPECT_EQ(ShownPath("/home/user/a/out"), "a/out");
  EXPECT_EQ(ShownPath("/proc/out"), "/proc/out");
  EXPECT_EQ(ShownPath("relative"), "relative");
  setenv("BUILD_WORKING_DIRECTORY", "", 1);
  EXPECT_EQ(UserPath("out"), "/proc/out");
}

TEST_F(UserFolderTest, ShownPathsEndWithoutASlash) {
  setenv("BUILD_WORKING_DIRECTORY", "/home/user", 1);
  EXPECT_EQ(ShownPath("/home/user/out/"), "out");
  EXPECT_EQ(ShownPath("/elsewhere//"), "/elsewhere");
  EXPECT_EQ(ShownPath("/"), "/");
  EXPECT_EQ(ShownPath("//"), "/");
  EXPECT_EQ(ShownPath("a/"), "a");
}

TEST_F(UserFolderTest, OnlyOurRunfilesAreLeft) {
  const std::string user = fs::canonical(testing::TempDir());
  const std::string runfiles =
      fs::read_symlink("/proc/self/exe").string() + ".runfiles";
  std::error_code ignored;
  fs::create_directories(runfiles, ignored);
  fs::current_path(runfiles);
  GoWhereTheUserStood();
  EXPECT_EQ(fs::current_path(), runfiles);
  setenv("BUILD_WORKING_DIRECTORY", user.c_str(), 1);
  GoWhereTheUserStood();
  EXPECT_EQ(fs::current_path(), user);
  // The runfiles of the target.
  fs::current_path("/proc");
  GoWhereTheUserStood();
  EXPECT_EQ(fs::current_path(), "/proc");
}

// The exit status of a process that runs `work`.
int StatusOf(const std::function<int()>& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  int status = -1;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StandardStreamsTest, ClosedOnesAreOccupiedAndNoneElse) {
  EXPECT_EQ(StatusOf([] {
              const int free = dup(1);
              close(free);
              const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
              dup2(file, STDOUT_FILENO);
              close(file);
              close(STDIN_FILENO);
              close(STDERR_FILENO);
              OccupyStandardStreams();
              for (const int fd : {STDIN_FILENO, STDERR_FILENO}) {
                if (fcntl(fd, F_GETFD) != FD_CLOEXEC) return 1;
                if ((fcntl(fd, F_GETFL) & O_PATH) == 0) return 2;
              }
              if (write(STDOUT_FILENO, "x", 1) != 1) return 3;
              return fcntl(free, F_GETFD) == -1 ? 0 : 4;
            }),
            0);
}

constexpr rlim_t kEnough = rlim_t{8} << 20;

// Runs `work` in a process with this limit of stacks.
int StatusWithStack(rlim_t bytes, const std::function<int()>& work) {
  return StatusOf([&] {
    rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = bytes;
    return setrlimit(RLIMIT_STACK, &limit) == 0 ? work() : 99;
  });
}

TEST(LargeStackTest, RunsHereIfTheStackIsLargeEnough) {
  for (const bool is_large : {true, false}) {
    const rlim_t bytes = is_large ? kEnough : kEnough - 1;
    EXPECT_EQ(StatusWithStack(bytes,
                              [&] {
                                const pthread_t here = pthread_self();
                                return RunWithLargeStack([&] {
                                  return pthread_equal(here, pthread_self())
                                             ? 20
                                             : 21;
                                });
                              }),
              is_large ? 20 : 21);
  }
}

TEST(LargeStackTest, AThreadHasTheStackAndTheSignals) {
  EXPECT_EQ(StatusWithStack(rlim_t{1} << 20,
                            [] {
                              sigset_t set, all;
                              sigemptyset(&set);
                              sigaddset(&set, SIGUSR1);
                              pthread_sigmask(SIG_SETMASK, &set, nullptr);
                              const int status = RunWithLargeStack([] {
                                pthread_attr_t attributes;
                                size_t bytes = 0;
                                pthread_getattr_np(pthread_self(), &attributes);
                                pthread_attr_getstacksize(&attributes, &bytes);
                                pthread_attr_destroy(&attributes);
                                if (bytes != kEnough) return 1;
                                sigset_t mask;
                                pthread_sigmask(SIG_SETMASK, nullptr, &mask);
                                if (!sigismember(&mask, SIGUSR1)) return 2;
                                return sigismember(&mask, SIGTERM) ? 3 : 7;
                              });
                              // Signals are for the command's thread.
                              pthread_sigmask(SIG_SETMASK, nullptr, &all);
                              return sigismember(&all, SIGTERM) ? status : 4;
                            }),
            7);
}

TEST(SayTest, LinesAreMarkedAndCannotDriveTheTerminal) {
  testing::internal::CaptureStderr();
  Say("wrote a\x1b[2Jb");
  EXPECT_EQ(Fail(absl::NotFoundError("none"), 7), 7);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "kymo: wrote a\\x1b[2Jb\nkymo: none\n");
}

}  // namespace
}  // namespace kymo::tools
