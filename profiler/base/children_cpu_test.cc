#include "profiler/base/children_cpu.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace kymo {
namespace {

// Burns CPU time in the program and in the kernel, each for 30 ms and more.
void Burn() {
  rusage usage = {};
  do {
    getrusage(RUSAGE_SELF, &usage);
    getppid();
  } while (usage.ru_stime.tv_usec < 30'000 || usage.ru_utime.tv_usec < 30'000);
}

TEST(ChildrenCpuTest, IsUserAndSystemTimeOfWhomOneWaitedFor) {
  EXPECT_EQ(ChildrenCpuNs(), 0);
  const pid_t child = fork();
  if (child == 0) {
    Burn();
    _exit(0);
  }
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT),
            0);
  EXPECT_EQ(ChildrenCpuNs(), 0);
  const int64_t before_wait_ns = ChildrenCpuNs(child);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  const int64_t expected_us =
      (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 +
      usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  EXPECT_GE(expected_us, 60'000);
  EXPECT_EQ(ChildrenCpuNs(), expected_us * 1'000);
  EXPECT_EQ(ChildrenCpuNs(child), expected_us * 1'000);
  EXPECT_EQ(before_wait_ns, expected_us * 1'000);
}

}  // namespace
}  // namespace kymo
