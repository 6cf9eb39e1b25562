#include "profiler/model/stack_table.h"

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/model/string_table.h"

namespace kymo::model {
namespace {

TEST(StackTableTest, SharesPrefixes) {
  StringTable strings;
  StackTable stacks;
  const FrameId main = stacks.AddFrame({.function = strings.Intern("main")});
  const FrameId work = stacks.AddFrame({.function = strings.Intern("work")});
  const StackId root = stacks.Push(kEmptyStack, main);
  const StackId leaf = stacks.Push(root, work);
  EXPECT_EQ(stacks.Push(root, work), leaf);
  EXPECT_EQ(stacks.Frames(leaf), (std::vector<FrameId>{main, work}));
  EXPECT_EQ(stacks.depth(leaf), 2);
  EXPECT_EQ(stacks.stack_count(), 3);
}

TEST(StackTableTest, EachParentAndFrameIsOneStack) {
  StackTable stacks;
  std::map<std::pair<StackId, FrameId>, StackId> expected;
  uint32_t random = 1;
  for (int i = 0; i < 100'000; ++i) {
    random = random * 1664525 + 1013904223;
    const StackId parent{(random >> 8) %
                         static_cast<uint32_t>(stacks.stack_count())};
    const FrameId frame{(random >> 4) % 7};
    const StackId next{static_cast<uint32_t>(stacks.stack_count())};
    const auto [at, is_new] = expected.try_emplace({parent, frame}, next);
    ASSERT_EQ(stacks.Push(parent, frame), at->second);
    ASSERT_EQ(stacks.parent(at->second), parent);
    ASSERT_EQ(stacks.leaf(at->second), frame);
    ASSERT_EQ(stacks.stack_count(), expected.size() + 1);
    ASSERT_EQ(stacks.depth(at->second), stacks.depth(parent) + 1);
  }
}

TEST(StackTableTest, FindsStacksAgainAfterItsIndexWasFreed) {
  StringTable strings;
  StackTable stacks;
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < 3; ++i) {
    frames.push_back({.function = strings.Intern("f"), .line = i});
  }
  const auto push_all = [&] {
    std::vector<StackId> ids = {kEmptyStack};
    for (size_t i = 0; i < 500; ++i) {
      for (const Frame& frame : frames) {
        ids.push_back(stacks.Push(ids[i], stacks.AddFrame(frame)));
      }
    }
    return ids;
  };
  const std::vector<StackId> ids = push_all();
  const size_t count = stacks.stack_count();
  stacks.FreeIndex();
  EXPECT_EQ(push_all(), ids);
  EXPECT_EQ(stacks.stack_count(), count);
  EXPECT_EQ(stacks.frame_count(), frames.size());
  // Without one, a node right behind its parent is added as ever.
  stacks.FreeIndex();
  const StackId last{static_cast<uint32_t>(count) - 1};
  EXPECT_EQ(Index(stacks.Push(last, FrameId{0})), count);
}

// A node of a chain has its frame and one of 16 bytes for 64 nodes. The vectors
// are full here.
TEST(StackTableTest, AChainTakesTheMemoryOfItsNodes) {
  constexpr uint32_t kNodes = 1 << 20;  // with the empty stack
  const auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const size_t before = in_use();
  StackTable stacks;
  StackId leaf = kEmptyStack;
  for (uint32_t i = 1; i < kNodes; ++i) leaf = stacks.Push(leaf, FrameId{0});
  EXPECT_LT(in_use() - before, 5 * kNodes);
  EXPECT_EQ(stacks.stack_count(), kNodes);
}

}  // namespace
}  // namespace kymo::model
