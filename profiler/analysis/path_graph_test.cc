#include "profiler/analysis/path_graph.h"

#include <vector>

#include "gtest/gtest.h"

namespace kymo::analysis {
namespace {

using Path = std::vector<size_t>;

TEST(PathGraphTest, FindsThePathOfTheLargestWeight) {
  PathGraph graph(3);
  graph.Add({.from = 0, .to = 1, .span_ns = 5});
  graph.Add({.from = 1, .to = 2, .span_ns = 5});
  graph.Add({.from = 0, .to = 2, .span_ns = 7});
  EXPECT_EQ(graph.LongestPath(), (Path{0, 1}));
}

TEST(PathGraphTest, ASpanThatTakesNoTimeDoesNotCount) {
  PathGraph graph(3);
  graph.Add({.from = 0, .to = 1, .span_ns = 100, .takes_time = false});
  graph.Add({.from = 0, .to = 2, .span_ns = 7});
  EXPECT_EQ(graph.LongestPath(), (Path{1}));
}

TEST(PathGraphTest, OfEqualPathsTheFirstEdgeWins) {
  PathGraph graph(4);
  graph.Add({.from = 0, .to = 2, .span_ns = 5});
  graph.Add({.from = 1, .to = 2, .span_ns = 5});
  graph.Add({.from = 1, .to = 3, .span_ns = 5});
  EXPECT_EQ(graph.LongestPath(), (Path{0}));
}

TEST(PathGraphTest, NoEdgesNoPath) {
  EXPECT_TRUE(PathGraph(0).LongestPath().empty());
  EXPECT_TRUE(PathGraph(2).LongestPath().empty());
}

TEST(PathGraphTest, ACycleIsOnNoPath) {
  PathGraph graph(4);
  graph.Add({.from = 0, .to = 1, .span_ns = 5});
  graph.Add({.from = 1, .to = 0, .span_ns = 5});
  graph.Add({.from = 1, .to = 2, .span_ns = 5});
  graph.Add({.from = 3, .to = 2, .span_ns = 1});
  EXPECT_TRUE(graph.LongestPath().empty());
}

}  // namespace
}  // namespace kymo::analysis
