#include "backends/sampling/perf/time_name_space.h"

#include <gtest/gtest.h>

namespace kymo::sampling {
namespace {

// As Linux 6.x writes it (time_namespaces(7)).
TEST(TimeNameSpaceTest, TheMonotonicClocksOffsetIsRead) {
  EXPECT_EQ(MonotonicOffsetNs("monotonic           0         0\n"
                              "boottime            0         0\n"),
            0);
  EXPECT_EQ(MonotonicOffsetNs("boottime           -7         1\n"
                              "monotonic        5000       250\n"),
            5'000'000'000'250);
  EXPECT_EQ(MonotonicOffsetNs("monotonic          -2 500000000\n"),
            -1'500'000'000);
  EXPECT_EQ(MonotonicOffsetNs(""), 0);
}

}  // namespace
}  // namespace kymo::sampling
