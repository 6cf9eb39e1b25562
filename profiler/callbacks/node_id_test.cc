#include "kymo/node_id.h"

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
  SetWarningHandler({});
}

}  // namespace
}  // namespace kymo
