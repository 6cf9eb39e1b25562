#include "profiler/processes/schedstat.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kymo::processes {
namespace {

// Documentation/scheduler/sched-stats.rst: three numbers.
TEST(SchedStatTest, ReadsWhatTheKernelWrites) {
  const auto stat = ParseSchedStat("262077026 103157473 1586\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->on_cpu_ns, 262'077'026);
  EXPECT_EQ(stat->waited_ns, 103'157'473);
  for (const char* const text : {"", "\n", "1", "1 2", "a b c", "-1 2 3",
                                 "1 -2 3", "99999999999999999999 1 1"}) {
    EXPECT_FALSE(ParseSchedStat(text).has_value()) << text;
  }
  EXPECT_TRUE(ReadSchedStat(getpid(), getpid()).has_value());
  EXPECT_FALSE(ReadSchedStat(getpid(), 0).has_value());
  EXPECT_TRUE(ThreadExists(getpid(), getpid()));
  EXPECT_FALSE(ThreadExists(getpid(), 0));
}

}  // namespace
}  // namespace kymo::processes
