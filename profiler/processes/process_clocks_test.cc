#include "profiler/processes/process_clocks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/base/time.h"

namespace kymo::processes {
namespace {

DurationNs OwnCpuNs() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

void Burn(DurationNs cpu_ns) {
  const DurationNs until_ns = OwnCpuNs() + cpu_ns;
  while (OwnCpuNs() < until_ns) continue;
}

TEST(ProcessClocksTest, CountsFromTheMomentThatAProcessIsAdded) {
  Burn(2 * kNsPerMs);
  ProcessClocks clocks;
  clocks.AddRunning(getpid());
  const DurationNs before_ns = OwnCpuNs();
  Burn(20 * kNsPerMs);
  clocks.AddRunning(getpid());  // is known
  clocks.Read();
  const DurationNs after_ns = OwnCpuNs();
  EXPECT_GE(clocks.total_ns(), 20 * kNsPerMs);
  EXPECT_LE(clocks.total_ns(), after_ns - before_ns + kNsPerMs);
}

TEST(ProcessClocksTest, AProcessThatEndedKeepsItsTime) {
  const pid_t child = fork();
  if (child == 0) {
    Burn(30 * kNsPerMs);
    _exit(0);
  }
  ProcessClocks clocks;
  clocks.AddNew(child);
  siginfo_t info;
  // Nobody has waited for it yet, so its clock is still there.
  ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
  clocks.Forget(child);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  clocks.Read();
  EXPECT_GE(clocks.total_ns(), 30 * kNsPerMs);
  EXPECT_LT(clocks.total_ns(), kNsPerSecond);
}

TEST(ProcessClocksTest, AProcessThatIsGoneHasNoTime) {
  ProcessClocks clocks;
  clocks.AddRunning(1 << 22);
  clocks.AddNew(1 << 22);
  clocks.Read();
  EXPECT_EQ(clocks.total_ns(), 0);
}

}  // namespace
}  // namespace kymo::processes
