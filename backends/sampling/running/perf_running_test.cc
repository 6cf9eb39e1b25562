#include "backends/sampling/running/perf_running.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/sampling/running/target_pids.h"
#include "backends/sampling/sample_store.h"
#include "profiler/base/time.h"

namespace kymo::sampling {
namespace {

constexpr uint64_t kNow = ~uint64_t{0};

// A child that uses a CPU until it is killed.
class BusyChild {
 public:
  BusyChild() : pid_(fork()) {
    while (pid_ == 0) {
    }
  }
  ~BusyChild() { Kill(); }

  pid_t pid() const { return pid_; }
  // Returns when it has used so much more.
  void Use(DurationNs more_ns) const {
    const DurationNs until_ns = UsedNs() + more_ns;
    while (UsedNs() < until_ns) usleep(1000);
  }
  // It stays in the list of processes, as its parent has not waited for it.
  void End() const {
    kill(pid_, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }

 private:
  DurationNs UsedNs() const {
    clockid_t clock;
    timespec time;
    if (clock_getcpuclockid(pid_, &clock) != 0) return 0;
    clock_gettime(clock, &time);
    return time.tv_sec * kNsPerSecond + time.tv_nsec;
  }
  void Kill() const {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  const pid_t pid_;
};

class RunningProcessesTest : public ::testing::Test {
 protected:
  RunningProcessesTest() : running_({.pids = {child_.pid()}}) {
    const auto status = running_.Begin(
        nullptr, [] {}, pids_, store_);
    EXPECT_TRUE(status.ok()) << status;
  }
  BusyChild child_;
  TargetPids pids_{[](uint32_t, uint32_t) {}};
  SampleStore store_{kNsPerMs};
  RunningProcesses running_;
};

TEST_F(RunningProcessesTest, CountsWhatAProcessUsesAfterItsEventsEnded) {
  constexpr DurationNs kPart = 20 * kNsPerMs;
  child_.Use(kPart);
  running_.OnExit(static_cast<uint32_t>(child_.pid()));
  child_.Use(kPart);
  running_.ReadClocks(kNow);
  EXPECT_GE(running_.unwatched_ns(), kPart);
  EXPECT_GE(running_.cpu_ns(), running_.unwatched_ns() + kPart);
}

TEST_F(RunningProcessesTest, AProcessThatEndedIsNotUnwatched) {
  child_.Use(kNsPerMs);
  child_.End();
  running_.OnExit(static_cast<uint32_t>(child_.pid()));
  running_.ReadClocks(kNow);
  EXPECT_EQ(running_.unwatched_ns(), 0);
  EXPECT_GE(running_.cpu_ns(), kNsPerMs);
}

}  // namespace
}  // namespace kymo::sampling
