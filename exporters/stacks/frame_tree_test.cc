#include "exporters/stacks/frame_tree.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/stacks/range_paths.h"
#include "profiler/model/stack_table.h"
#include "tests/support/test_trace.h"

namespace kymo::stacks {
namespace {

using ::testing::ElementsAre;

// Frames as their numbers, outermost first.
std::string Text(const FrameTree& tree, uint32_t node) {
  std::string text;
  for (; node != FrameTree::kNoNode; node = tree.parent(node)) {
    const std::string frame = tree.frame(node) == FrameTree::kFoldedFrames
                                  ? FoldedFramesText(tree.folded_frames(node))
                                  : std::to_string(tree.frame(node));
    text = text.empty() ? frame : absl::StrCat(frame, ";", text);
  }
  return text;
}

// The stacks 7, 7;1, 7;1;2 and so on, up to `depth` frames below the root.
std::vector<std::string> Deeper(uint32_t max_frames, uint32_t depth) {
  FrameTree tree(max_frames);
  FrameTree::Place place = tree.Root(7);
  std::vector<FrameTree::Place> places = {place};
  for (uint32_t i = 1; i <= depth; ++i) {
    places.push_back(place = tree.Below(place, i));
    EXPECT_EQ(place.depth, i);
    EXPECT_EQ(place.is_folded, max_frames != 0 && i > std::max(max_frames, 3u));
  }
  std::vector<std::string> texts;
  for (const auto& at : places) texts.push_back(Text(tree, at.node));
  return texts;
}

TEST(FrameTreeTest, OutermostFramesStayAndTheInnermostOne) {
  EXPECT_THAT(
      Deeper(4, 6),
      ElementsAre("7", "7;1", "7;1;2", "7;1;2;3", "7;1;2;3;4",
                  "7;1;2;[3 frames folded];5", "7;1;2;[3 frames folded];6"));
  EXPECT_THAT(Deeper(0, 4),
              ElementsAre("7", "7;1", "7;1;2", "7;1;2;3", "7;1;2;3;4"));
}

TEST(FrameTreeTest, AtLeastThreeFramesStay) {
  for (const uint32_t limit : {1u, 2u, 3u}) {
    EXPECT_THAT(Deeper(limit, 4), ElementsAre("7", "7;1", "7;1;2", "7;1;2;3",
                                              "7;1;[2 frames folded];4"));
  }
  EXPECT_EQ(FrameTree::Limit(0), 0u);
  EXPECT_EQ(FrameTree::Limit(2), 3u);
  EXPECT_EQ(FrameTree::Limit(4), 4u);
  EXPECT_EQ(FoldedFramesText(1), "[1 frame folded]");
  EXPECT_EQ(FoldedFramesText(0), "[0 frames folded]");
}

TEST(FrameTreeTest, PartsOfARootAreNoFrames) {
  FrameTree tree(3);
  const FrameTree::Place process = tree.Root(7);
  const FrameTree::Place root = tree.RootBelow(process.node, 8);
  EXPECT_EQ(tree.Root(7).node, process.node);
  const FrameTree::Place same = tree.PlaceOfRoot(root.node);
  EXPECT_EQ(same.anchor, root.anchor);
  EXPECT_EQ(same.depth, 0u);
  FrameTree::Place place = same;
  for (uint32_t i = 1; i <= 4; ++i) place = tree.Below(place, i);
  EXPECT_EQ(Text(tree, place.node), "7;8;1;[2 frames folded];4");
  EXPECT_EQ(tree.Below(root, 1).node, tree.Below(same, 1).node);
}

TEST(FrameTreeTest, TheDeepestStackSaysHowMuchIsFolded) {
  FrameTree tree(3);
  FrameTree::Place place = tree.Root(7);
  for (int i = 0; i < 6; ++i) place = tree.Below(place, 1);
  FrameTree::Place other = tree.Root(7);
  for (int i = 0; i < 4; ++i) other = tree.Below(other, i == 3 ? 2 : 1);
  EXPECT_EQ(Text(tree, place.node), "7;1;[4 frames folded];1");
  EXPECT_EQ(Text(tree, other.node), "7;1;[4 frames folded];2");
}

TEST(StackPlacesTest, StacksBelowEachRoot) {
  model::StackTable stacks;
  std::vector<model::StackId> ids = {model::kEmptyStack};
  for (uint32_t i = 0; i < 3; ++i) {
    ids.push_back(stacks.Push(
        ids.back(), stacks.AddFrame({.function = model::NameId{10 + i}})));
  }
  FrameTree tree(0);
  StackPlaces places(stacks, tree);
  const auto get = [&](const FrameTree::Place& root, size_t depth) {
    const auto place = places.Get(root, ids[depth], [&](model::FrameId frame) {
      return Index(stacks.frame(frame).function);
    });
    EXPECT_EQ(place.depth, depth);
    return Text(tree, place.node);
  };
  const FrameTree::Place first = tree.Root(7);
  const FrameTree::Place second = tree.Root(8);
  EXPECT_EQ(get(first, 2), "7;10;11");
  EXPECT_EQ(get(first, 3), "7;10;11;12");
  EXPECT_EQ(get(first, 1), "7;10");
  EXPECT_EQ(get(second, 3), "8;10;11;12");
  EXPECT_EQ(get(second, 0), "8");
  EXPECT_EQ(get(first, 2), "7;10;11");
  EXPECT_EQ(tree.node_count(), 8u);
}

TEST(RangePathsTest, PathsOfOneTrackHaveSelfTimesAndCalls) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "f", 0, 100);
  t.AddRange(main, "g", 10, 40);
  t.AddRange(main, "h", 15, 20);
  t.AddInstant(main, "tick", 30);
  t.AddRange(main, "g", 50, 60);
  t.AddRange(main, "g", 200, 207);
  const auto other = t.AddThread(1, 2, "other");
  t.AddRange(other, "f", 0, 9);
  const model::Trace trace = std::move(t).Build();
  const RangePaths paths(trace);
  std::vector<std::string> texts;
  for (const RangePath& path : paths.paths()) {
    texts.push_back(
        absl::StrCat(path.parent == kNoPath ? "-" : std::to_string(path.parent),
                     " ", std::string(trace.Name(path.name)), " of ",
                     path.track, ": ", path.self_ns, " ns, ", path.calls));
  }
  EXPECT_THAT(texts, ElementsAre("- f of 0: 60 ns, 1", "0 g of 0: 35 ns, 2",
                                 "1 h of 0: 5 ns, 1", "- g of 0: 7 ns, 1",
                                 "- f of 1: 9 ns, 1"));
  EXPECT_TRUE(HasRanges(trace));
}

TEST(RangePathsTest, InstantsAreNoRanges) {
  TestTrace t;
  t.AddInstant(t.AddThread(1, 1, "main"), "tick", 30);
  const model::Trace trace = std::move(t).Build();
  EXPECT_FALSE(HasRanges(trace));
  EXPECT_TRUE(RangePaths(trace).paths().empty());
  EXPECT_FALSE(HasRanges(TestTrace().Build()));
}

}  // namespace
}  // namespace kymo::stacks
