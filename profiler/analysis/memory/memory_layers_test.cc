#include "profiler/analysis/memory/memory_layers.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/analysis/memory/memory_profile.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;

class MemoryLayersTest : public testing::Test {
 protected:
  MemoryLayersTest() {
    builder_.SetWindow(0, 1'000);
    main_ = builder_.AddThread(1, 1, "main");
  }

  model::StackId Stack(std::string_view function) {
    return builder_.data().stacks.Push(
        model::kEmptyStack, builder_.data().stacks.AddFrame(
                                {.function = builder_.Intern(function)}));
  }

  // The names of the only pool's layers, then "time: bytes bytes ...".
  std::vector<std::string> Texts(const MemoryLayerLimits& limits) {
    std::move(memory_).AddTo(builder_.data());
    const model::Trace trace = std::move(builder_).Build();
    const std::vector<MemoryLayers> all =
        LayersOfMemory(trace, ProfileMemory(trace), limits);
    if (all.size() != 1) return {std::to_string(all.size()) + " pools"};
    std::vector<std::string> texts = {""};
    for (const model::NameId name : all[0].names) {
      texts[0] += std::string(trace.Name(name)) + "|";
    }
    for (const MemoryRow& row : all[0].rows) {
      texts.push_back(std::to_string(row.time_ns) + ":");
      for (const int64_t bytes : row.bytes) {
        texts.back() += " " + std::to_string(bytes);
      }
    }
    return texts;
  }

  TestTrace builder_;
  TestMemory memory_;
  model::TrackIndex main_ = 0;
};

TEST_F(MemoryLayersTest, DividesMemoryByTheOperationsOfThePeak) {
  builder_.AddRange(main_, "load", 0, 100);
  builder_.AddRange(main_, "parse", 200, 300);
  builder_.AddRange(main_, "log", 400, 500);
  const auto a = memory_.Allocate({.track = main_, .bytes = 100}, 10);
  const auto b = memory_.Allocate({.track = main_, .bytes = 300}, 210);
  memory_.Allocate({.track = main_, .bytes = 7}, 410);
  memory_.Allocate({.track = main_, .bytes = 20}, 600);
  memory_.Free(b, main_, 700);
  memory_.Free(a, main_, 800);
  EXPECT_THAT(Texts({.names = 2}),
              ElementsAre("parse|load|", "10: 0 100 0", "210: 300 100 0",
                          "410: 300 100 7", "600: 300 100 27", "700: 0 100 27",
                          "800: 0 0 27"));
}

TEST_F(MemoryLayersTest, WithoutOperationsDividesByFunction) {
  const auto read = Stack("read");
  const auto parse = Stack("parse");
  memory_.Allocate({.track = main_, .bytes = 1, .stack = read}, 10);
  memory_.Allocate({.track = main_, .bytes = 2, .stack = parse}, 20);
  memory_.Allocate({.track = main_, .bytes = 4, .stack = read}, 30);
  EXPECT_THAT(Texts({}), ElementsAre("read|parse|", "10: 1 0 0", "20: 1 2 0",
                                     "30: 5 2 0"));
}

TEST_F(MemoryLayersTest, ASlotKeepsItsPeakAndItsEnd) {
  for (const TimeNs time : {510, 520, 530}) {
    const auto block = memory_.Allocate({.track = main_, .bytes = time}, time);
    memory_.Free(block, main_, time + 5);
  }
  memory_.Allocate({.track = main_, .bytes = 3}, 900);
  EXPECT_THAT(Texts({.slots = 10}),
              ElementsAre("|", "530: 530 0", "535: 0 0", "900: 3 0"));
}

TEST_F(MemoryLayersTest, EachPoolHasItsOwnAllocations) {
  const auto other = builder_.AddThread(2, 2, "other");
  builder_.AddRange(main_, "load", 0, 100);
  builder_.AddRange(other, "parse", 0, 100);
  memory_.Allocate({.track = main_, .bytes = 1}, 10);
  memory_.Allocate({.track = other, .bytes = 2}, 20);
  memory_.Allocate(
      {.track = main_, .bytes = 4, .device_type = 1, .device_index = 0}, 30);
  memory_.Allocate({.track = main_, .bytes = 8}, 40);
  std::move(memory_).AddTo(builder_.data());
  const model::Trace trace = std::move(builder_).Build();
  const std::vector<MemoryLayers> all =
      LayersOfMemory(trace, ProfileMemory(trace), {});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].pool.pid, 1);
  EXPECT_EQ(all[0].pool.device_index, -1);
  EXPECT_THAT(all[0].rows,
              ElementsAre(MemoryRow{10, {1, 0}}, MemoryRow{40, {9, 0}}));
  EXPECT_EQ(all[1].pool.device_index, 0);
  EXPECT_THAT(all[1].rows, ElementsAre(MemoryRow{30, {4, 0}}));
  EXPECT_EQ(all[2].pool.pid, 2);
  EXPECT_THAT(all[2].rows, ElementsAre(MemoryRow{20, {2, 0}}));
  EXPECT_EQ(trace.Name(all[2].names.at(0)), "parse");
}

// A pass over all records for each pool would take minutes.
TEST_F(MemoryLayersTest, ManyPoolsTakeOnePass) {
  constexpr int kPools = 30'000;
  for (int pid = 2; pid < kPools + 2; ++pid) {
    const auto track = builder_.AddThread(pid, pid, "");
    memory_.Allocate({.track = track, .bytes = pid}, 10);
  }
  std::move(memory_).AddTo(builder_.data());
  const model::Trace trace = std::move(builder_).Build();
  EXPECT_EQ(LayersOfMemory(trace, ProfileMemory(trace), {}).size(), kPools);
}

TEST_F(MemoryLayersTest, NothingIsMadeOfATraceWithoutMemory) {
  EXPECT_THAT(Texts({}), ElementsAre("0 pools"));
}

}  // namespace
}  // namespace kymo::analysis
