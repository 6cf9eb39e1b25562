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
  // Nor where only the module differs, at the root or at the leaf.
  const std::vector<CodePlace> root = {{5, 3}, {5, 2}, {6, 1}};
  const std::vector<CodePlace> leaf = {{6, 3}, {5, 2}, {5, 1}};
  EXPECT_EQ(stacks.Intern(root), 7u);
  EXPECT_EQ(stacks.Intern(leaf), 8u);
  EXPECT_EQ(stacks.Intern(root), 7u);
  EXPECT_EQ(stacks.Intern(a), first);
  // Node by node, from the root on.
  const struct {
    RawStackId parent;
    CodePlace place;
  } expected[] = {{0, {5, 1}}, {1, {5, 2}}, {2, {5, 3}}, {2, {5, 4}},
                  {0, {6, 1}}, {5, {5, 2}}, {6, {5, 3}}, {2, {6, 3}}};
  ASSERT_EQ(stacks.nodes().size(), 9u);
  for (size_t i = 1; i < 9; ++i) {
    EXPECT_EQ(stacks.nodes()[i].parent, expected[i - 1].parent) << i;
    EXPECT_EQ(stacks.nodes()[i].place, expected[i - 1].place) << i;
  }
}

TEST(RawStacksTest, BeyondTheMostAStackIsThePartThatIsKnown) {
  RawStacks stacks(/*most_nodes=*/3);
  const std::vector<CodePlace> a = {{5, 3}, {5, 2}, {5, 1}};
  const std::vector<CodePlace> b = {{5, 4}, {5, 9}, {5, 1}};
  EXPECT_EQ(stacks.Intern(a), 3u);
  EXPECT_EQ(stacks.cut_count(), 0u);
  EXPECT_EQ(stacks.Intern(b), 1u);
  EXPECT_EQ(stacks.Intern(b), 1u);
  EXPECT_EQ(stacks.Intern(std::span(b).first(1)), 0u);
  EXPECT_EQ(stacks.cut_count(), 3u);
  EXPECT_EQ(stacks.Intern(a), 3u);
  EXPECT_EQ(stacks.cut_count(), 3u);
  EXPECT_EQ(stacks.nodes().size(), 4u);
}

}  // namespace
}  // namespace kymo::symbolize
