#include "backends/sampling/perf/cpu_watch.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>

#include "profiler/base/owned_descriptor.h"

namespace kymo::sampling {
namespace {

void WaitUntil(const std::atomic<int>& count, int wanted) {
  while (count < wanted) usleep(100);
}

TEST(CpuWatchTest, LooksOnTheCpuOfTheSample) {
  // The last one that this process may use.
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  int cpu = CPU_SETSIZE - 1;
  while (!CPU_ISSET(cpu, &set)) --cpu;
  const OwnedDescriptor event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::atomic<int> looks = 0;
  std::atomic<int> seen_cpu = -1;
  CpuWatch watch;
  ASSERT_TRUE(watch.Start({{.cpu = cpu, .descriptor = event.get(), .look = [&] {
                              eventfd_t count = 0;
                              eventfd_read(event.get(), &count);
                              seen_cpu = sched_getcpu();
                              ++looks;
                            }}}));
  EXPECT_TRUE(watch.is_running());
  for (int i = 1; i <= 3; ++i) {
    eventfd_write(event.get(), 1);
    WaitUntil(looks, i);
    EXPECT_EQ(seen_cpu, cpu);
  }
  watch.Stop();
  EXPECT_FALSE(watch.is_running());
  eventfd_write(event.get(), 1);
  usleep(1'000);
  EXPECT_EQ(looks, 3);
}

// As the event of a process that has ended: it is ready at all times.
TEST(CpuWatchTest, LooksOnceMoreAtAnEventThatHasEnded) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[1]);  // the other end is then ready for ever
  const OwnedDescriptor ended(ends[0]);
  std::atomic<int> looks = 0;
  CpuWatch watch;
  ASSERT_TRUE(watch.Start(
      {{.cpu = 0, .descriptor = ended.get(), .look = [&] { ++looks; }}}));
  WaitUntil(looks, 1);
  watch.Stop();
  EXPECT_EQ(looks, 1);
}

}  // namespace
}  // namespace kymo::sampling
