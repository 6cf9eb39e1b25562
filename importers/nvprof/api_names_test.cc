#include "importers/nvprof/api_names.h"

#include "gtest/gtest.h"

namespace kymo::nvprof {
namespace {

TEST(ApiNamesTest, NamesCommonCallsAndKeepsTheNumbersOfOthers) {
  EXPECT_EQ(RuntimeName(13), "cudaLaunch");
  EXPECT_EQ(RuntimeName(41), "cudaMemcpyAsync");
  EXPECT_EQ(RuntimeName(211), "cudaLaunchKernel");
  EXPECT_EQ(RuntimeName(505), "__cudaLaunchKernel");
  EXPECT_EQ(DriverName(307), "cuLaunchKernel");
  EXPECT_EQ(RuntimeName(999999), "runtime call 999999");
  EXPECT_EQ(DriverName(-1), "driver call -1");
}

TEST(ApiNamesTest, LaunchesAreTheOneOfPyTorchAndNewerOnes) {
  for (const int64_t launch : {211, 214, 269, 272, 311, 430, 505}) {
    EXPECT_TRUE(IsLaunch(launch)) << launch;
  }
  for (const int64_t other : {0, 13, 41, 212, 284}) {
    EXPECT_FALSE(IsLaunch(other)) << other;
  }
}

}  // namespace
}  // namespace kymo::nvprof
