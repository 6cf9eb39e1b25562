#include "profiler/base/available_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kymo {
namespace {

TEST(AvailableMemoryTest, IsNoMoreThanTheMachineHas) {
  const auto all = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                   static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_GT(AvailableMemoryBytes(), 0);
  EXPECT_LE(AvailableMemoryBytes(), all);
}

TEST(AvailableMemoryTest, IsNoMoreThanTheProcessMayTake) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  rlimit small = before;
  small.rlim_cur = rlim_t{64} << 20;
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &small), 0);
  const uint64_t available = AvailableMemoryBytes();
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &before), 0);
  EXPECT_LT(available, small.rlim_cur);
}

}  // namespace
}  // namespace kymo
