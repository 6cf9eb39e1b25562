#include "profiler/symbolize/raw_stacks.h"

#include <gtest/gtest.h>

#include <vector>

namespace kymo::symbolize {
namespace {

TEST(RawStacksTest, EqualStacksHaveOneNumber) {
  RawStacks stacks;
  const std::vector<CodePlace> a = {{5, 3}, {5, 2}, {5, 1}};
  const std::vector<CodePlace> b = {{5, 4}, {5, 2}, {5, 1}};
  const RawStackId first = stacks.Intern(a);
  const RawStackId other = stacks.Intern(b);
  EXPECT_NE(first, other);
  EXPECT_EQ(stacks.Intern(a), first);
  EXPECT_EQ(stacks.Intern(std::span(a).subspan(1)),
            stacks.nodes()[first].parent);
  EXPECT_EQ(stacks.nodes().size(), 5u);
  EXPECT_EQ(stacks.Intern({}), 0u);
  EXPECT_EQ(stacks.nodes()[other].place, (CodePlace{5, 4}));
}

}  // namespace
}  // namespace kymo::symbolize
