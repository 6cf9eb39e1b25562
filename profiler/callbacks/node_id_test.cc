#include "kymo/node_id.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/warning.h"

namespace kymo {
namespace {

TEST(NodeIdTest, IsMinusOneUntilSetAndRefusesNegativeOnes) {
  std::vector<std::string> warnings;
  SetWarningHandler(
      [&](std::string_view text) { warnings.emplace_back(text); });
  EXPECT_EQ(DefaultNodeId(), -1);
  SetDefaultNodeId(-3);
  EXPECT_EQ(DefaultNodeId(), -1);
  EXPECT_EQ(warnings,
            std::vector<std::string>{"setDefaultNodeId expects an id >= 0."});
  SetDefaultNodeId(0);
  EXPECT_EQ(DefaultNodeId(), 0);
  SetDefaultNodeId(7);
  EXPECT_EQ(DefaultNodeId(), 7);
  SetDefaultNodeId(int64_t{1} << 31);
  EXPECT_EQ(DefaultNodeId(), 7);
  EXPECT_EQ(warnings.back(),
            "setDefaultNodeId expects an id of at most 2147483647.");
  SetDefaultNodeId((int64_t{1} << 31) - 1);
  EXPECT_EQ(DefaultNodeId(), (int64_t{1} << 31) - 1);
  SetWarningHandler({});
}

}  // namespace
}  // namespace kymo
