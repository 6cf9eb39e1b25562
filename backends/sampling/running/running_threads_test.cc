#include "backends/sampling/running/running_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kymo::sampling {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A /proc whose threads may begin while they get events.
class RunningThreadsTest : public ::testing::Test {
 protected:
  RunningThreadsTest() : proc_(::testing::TempDir() + "/proc") {
    std::filesystem::remove_all(proc_);
  }

  void AddProcess(int pid, int parent, char state = 'S') {
    AddThread(pid, pid);
    std::ofstream(Path(pid) + "/stat")
        << pid << " (p) " << state << " " << parent
        << " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7 0 0";
  }
  void AddThread(int pid, int tid) {
    std::filesystem::create_directories(Path(pid) + "/task/" +
                                        std::to_string(tid));
  }
  // Runs when the thread gets its event.
  void When(pid_t tid, std::function<absl::Status()> then) {
    then_[tid] = std::move(then);
  }
  absl::StatusOr<RunningThreads> Watch(const RunningTarget& target) {
    return WatchRunningThreads(target, {.watch =
                                            [this](pid_t tid) {
                                              watched_.push_back(tid);
                                              const auto then = then_.find(tid);
                                              return then == then_.end()
                                                         ? absl::OkStatus()
                                                         : then->second();
                                            },
                                        .begun = [this] { return begun_; },
                                        .proc = proc_});
  }
  std::string Path(int pid) const { return proc_ + "/" + std::to_string(pid); }

  const std::string proc_;
  std::vector<pid_t> watched_;
  std::set<pid_t> begun_;
  std::map<pid_t, std::function<absl::Status()>> then_;
};

TEST_F(RunningThreadsTest, WatchesAllThreadsOfTheProcessesAndTheirChildren) {
  AddProcess(1, 0);
  AddProcess(10, 1);
  AddThread(10, 11);
  AddThread(10, 12);
  AddProcess(20, 10);
  AddThread(20, 21);
  AddProcess(30, 1);
  AddProcess(40, 10, 'Z');  // nobody has waited for it
  const auto found = Watch({.pids = {10}});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(watched_, ElementsAre(10, 11, 12, 20, 21));
  ASSERT_EQ(found->processes.size(), 2U);
  EXPECT_EQ(found->processes[0].info.pid, 10);
  EXPECT_THAT(found->processes[0].tids, ElementsAre(10, 11, 12));
  EXPECT_EQ(found->processes[1].info.parent, 10);
  EXPECT_THAT(found->late, IsEmpty());
}

TEST_F(RunningThreadsTest, ThreadsThatBeginMeanwhileGetOneEventEach) {
  AddProcess(10, 1);
  AddThread(10, 11);
  When(11, [this] {
    AddThread(10, 12);  // of a thread without an event
    AddThread(10, 13);  // of one that has an event, which it inherited
    begun_.insert(13);
    AddProcess(14, 10);  // the same of processes
    AddProcess(15, 10);
    begun_.insert(15);
    return absl::OkStatus();
  });
  When(12, [this] {
    AddThread(10, 16);
    begun_.insert(16);
    return absl::OkStatus();
  });
  const auto found = Watch({.pids = {10}});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(watched_, ElementsAre(10, 11, 12, 14));
  ASSERT_EQ(found->processes.size(), 3U);
  EXPECT_THAT(found->processes[0].tids, ElementsAre(10, 11, 12, 13, 16));
  EXPECT_THAT(found->late, ElementsAre(12, 14));
}

TEST_F(RunningThreadsTest, AProgramThatMakesThreadsForEverIsNoTrap) {
  AddProcess(10, 1);
  int next = 11;
  std::function<absl::Status()> make_more = [&] {
    AddThread(10, next);
    When(next, make_more);
    ++next;
    return absl::OkStatus();
  };
  When(10, make_more);
  EXPECT_TRUE(Watch({.pids = {10}}).ok());
  EXPECT_EQ(watched_.size(), 20U);
}

TEST_F(RunningThreadsTest, ThreadsThatEndMeanwhileDoNotMatter) {
  AddProcess(10, 1);
  AddThread(10, 11);
  When(10, [] { return absl::NotFoundError("gone"); });
  EXPECT_TRUE(Watch({.pids = {10}}).ok());
  EXPECT_THAT(watched_, ElementsAre(10, 11));
}

TEST_F(RunningThreadsTest, ASignalThatWaitsEndsTheSearch) {
  AddProcess(10, 1);
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  pthread_kill(pthread_self(), SIGTERM);
  const absl::Status status = Watch({.pids = {10}}).status();
  const timespec at_once = {};
  EXPECT_EQ(sigtimedwait(&signals, nullptr, &at_once), SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_TRUE(Watch({.pids = {10}}).ok());
}

TEST_F(RunningThreadsTest, ThreadsOfAProcessWithoutItsMainThreadAreFound) {
  AddProcess(10, 1);
  AddThread(10, 11);
  std::ofstream(proc_ + "/10/stat")
      << "10 (p) Z 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2 0 7 0 0";
  ASSERT_TRUE(Watch({.pids = {10}}).ok());
  EXPECT_THAT(watched_, ElementsAre(10, 11));
}

TEST_F(RunningThreadsTest, LeavesOutThisProcessAndWhatItStarted) {
  AddProcess(10, 1);
  AddProcess(getpid(), 10);
  AddProcess(getpid() + 1, getpid());
  EXPECT_TRUE(Watch({.pids = {10}}).ok());
  EXPECT_THAT(watched_, ElementsAre(10));
}

TEST_F(RunningThreadsTest, OfThisProcessTakesAllThreadsButOne) {
  AddProcess(getpid(), 1);
  AddThread(getpid(), getpid() + 1);
  AddThread(getpid(), getpid() + 2);
  AddProcess(getpid() + 3, getpid());
  std::vector<pid_t> watched;
  const auto found =
      WatchRunningThreads({}, {.watch =
                                   [&](pid_t tid) {
                                     watched.push_back(tid);
                                     return absl::OkStatus();
                                   },
                               .begun = [] { return std::set<pid_t>(); },
                               .proc = proc_,
                               .left_out_tid = getpid() + 1});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(watched, ElementsAre(getpid(), getpid() + 2));
}

TEST_F(RunningThreadsTest, ChildrenOfOtherUsersAreCounted) {
  AddProcess(10, 1);
  AddProcess(20, 10);
  AddThread(20, 21);
  When(20, [] { return absl::PermissionDeniedError("no"); });
  const auto found = Watch({.pids = {10}});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(watched_, ElementsAre(10, 20));
  EXPECT_EQ(found->refused, 1U);
  EXPECT_EQ(found->processes.size(), 1U);
}

TEST_F(RunningThreadsTest, SaysWhatTheUserMayNotWatch) {
  AddProcess(getpid() + 1, 1);
  AddProcess(1, 0);
  When(1, [] { return absl::PermissionDeniedError("no"); });
  const absl::Status status = Watch({.pids = {1}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr("process 1 ("));
  EXPECT_THAT(std::string(status.message()), HasSubstr("as root"));
}

TEST_F(RunningThreadsTest, SaysThatThereAreTooFewDescriptors) {
  AddProcess(10, 1);
  When(10, [] { return absl::ResourceExhaustedError("no"); });
  EXPECT_THAT(std::string(Watch({.pids = {10}}).status().message()),
              HasSubstr("ulimit -n"));
}

TEST_F(RunningThreadsTest, AProcessThatIsGoneIsAnError) {
  EXPECT_EQ(Watch({.pids = {10}}).status().code(), absl::StatusCode::kNotFound);
  AddProcess(10, 1, 'Z');
  EXPECT_EQ(Watch({.pids = {10}}).status().code(), absl::StatusCode::kNotFound);
}

TEST(CheckProcessesTest, ThoseThatEndedAreLeftOut) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::vector<pid_t> watched;
  const auto watch = [&](pid_t tid) {
    watched.push_back(tid);
    return absl::OkStatus();
  };
  EXPECT_TRUE(CheckProcesses(std::vector<pid_t>{child, getpid()}, watch).ok());
  EXPECT_THAT(watched, ElementsAre(getpid()));
  EXPECT_EQ(CheckProcesses(std::vector<pid_t>{child}, watch).code(),
            absl::StatusCode::kNotFound);
  const auto refuse = [](pid_t) { return absl::PermissionDeniedError("no"); };
  EXPECT_EQ(CheckProcesses(std::vector<pid_t>{child, 1}, refuse).code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(RunningThreadsTest, OfTheWholeMachineOneLookIsEnough) {
  AddProcess(1, 0);
  AddProcess(10, 1);
  const auto found =
      WatchRunningThreads({.all = true}, {.watch = nullptr, .proc = proc_});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->processes.size(), 2U);
}

}  // namespace
}  // namespace kymo::sampling
