#include "tools/gate_command/compare.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;

TEST(CompareTest, RunsAlternateSoThatDriftMeetsBothAlike) {
  EXPECT_THAT(RunOrder(4), ElementsAre(0, 1, 1, 0, 0, 1, 1, 0));
}

TEST(CompareTest, ListsOfCpus) {
  const auto cpus = ParseCpus("0-2,5");
  ASSERT_TRUE(cpus);
  EXPECT_EQ(CPU_COUNT(&*cpus), 4);
  EXPECT_TRUE(CPU_ISSET(5, &*cpus));
  for (const char* const wrong : {"", "x", "3-1", "-1", "1-2-3", "99999"}) {
    EXPECT_FALSE(ParseCpus(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace kymo::tools
