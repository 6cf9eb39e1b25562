#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

constexpr int64_t kMs = kNsPerMs;
constexpr int64_t kMiB = 1 << 20;

TestTrace With(TestTrace t, TestMemory memory) {
  std::move(memory).AddTo(t.data());
  return t;
}

// `count` blocks that are freed at once, in a run of 24 ms.
std::vector<Finding> ShortLived(int count, bool with_stack = true) {
  TestTrace t;
  t.SetWindow(0, 24 * kMs);
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  const model::StackId stack =
      with_stack ? t.Stack({"main", "Parse"}) : model::kEmptyStack;
  TestMemory memory;
  for (int i = 0; i < count; ++i) {
    const auto block =
        memory.Allocate({.track = main, .bytes = 32, .stack = stack}, 2 * i);
    memory.Free(block, main, 2 * i + 1);
  }
  return Found(With(std::move(t), std::move(memory)),
               FindingKind::kShortLivedAllocations);
}

TEST(MemoryFindingsTest, AllocationsThatLiveForAnInstant) {
  const auto found = ShortLived(100'000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "100,000 allocations (100 %) were freed before their thread "
            "allocated again, which takes about 1.50 ms or more; 100 % of them "
            "in Parse");
  EXPECT_EQ(found[0].time_ns, 1'500'000);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kStack);
  EXPECT_EQ(found[0].evidence.name, "Parse");
}

TEST(MemoryFindingsTest, ATwentiethOfTheRunMatters) {
  EXPECT_EQ(ShortLived(80'000).size(), 1u);  // 1.2 ms of 24 ms
  EXPECT_TRUE(ShortLived(79'999).empty());
}

TEST(MemoryFindingsTest, WithoutStacksTheNextStepIsToRecordThem) {
  const auto found = ShortLived(100'000, /*with_stack=*/false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].next_step.find("--with_stack"), std::string::npos);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kInterval);
  EXPECT_EQ(found[0].evidence.track, 0u);
}

// Steps of 1 ms that leave so many bytes each.
std::vector<Finding> Steps(const std::vector<int64_t>& left, FindingKind kind) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  const model::StackId stack = t.Stack({"main", "Append"});
  TestMemory memory;
  std::vector<TestMemory::Block> blocks;
  for (size_t i = 0; i < left.size(); ++i) {
    const TimeNs now = static_cast<TimeNs>(i) * kMs;
    t.AddRange(main, "ProfilerStep#" + std::to_string(i), now, now + kMs - 1);
    if (left[i] > 0) {
      blocks.push_back(memory.Allocate(
          {.track = main, .bytes = left[i], .stack = stack}, now + 10));
    } else if (left[i] < 0) {
      memory.Free(blocks.back(), main, now + 10);
      blocks.pop_back();
    }
  }
  return Found(With(std::move(t), std::move(memory)), kind);
}

TEST(MemoryFindingsTest, MemoryThatGrowsFromStepToStep) {
  const auto found =
      Steps({kMiB, kMiB, kMiB, kMiB, kMiB}, FindingKind::kMemoryGrowth);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Memory grew by 1.00 MiB a step, 4.00 MiB over 4 steps; at the "
            "end, 5.00 MiB were of Append");
  EXPECT_EQ(found[0].bytes, 4 * kMiB);
  EXPECT_EQ(found[0].share, 0.8);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kStack);
}

TEST(MemoryFindingsTest, FewerThanFiveStepsGrowByChance) {
  EXPECT_TRUE(
      Steps({kMiB, kMiB, kMiB, kMiB}, FindingKind::kMemoryGrowth).empty());
}

TEST(MemoryFindingsTest, TheFirstStepFillsCaches) {
  EXPECT_TRUE(
      Steps({100 * kMiB, 0, 0, 0, 0, 0}, FindingKind::kMemoryGrowth).empty());
}

TEST(MemoryFindingsTest, LessThanAMebibyteDoesNotMatter) {
  const int64_t quarter = kMiB / 4;
  EXPECT_EQ(
      Steps({0, quarter, quarter, quarter, quarter}, FindingKind::kMemoryGrowth)
          .size(),
      1u);
  EXPECT_TRUE(Steps({0, quarter, quarter, quarter, quarter - 1},
                    FindingKind::kMemoryGrowth)
                  .empty());
}

TEST(MemoryFindingsTest, OfTenStepsNineGrow) {
  std::vector<int64_t> left(11, kMiB);
  left[5] = 0;
  EXPECT_EQ(Steps(left, FindingKind::kMemoryGrowth).size(), 1u);
  left[7] = -1;
  EXPECT_TRUE(Steps(left, FindingKind::kMemoryGrowth).empty());
}

// `count` blocks of Insert that nobody frees, beside a block of `other` bytes.
std::vector<Finding> Leak(int count, int64_t bytes, int64_t other) {
  TestTrace t;
  t.SetWindow(0, 40 * kMs);
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  const model::StackId stack = t.Stack({"main", "Insert"});
  TestMemory memory;
  memory.Allocate(
      {.track = main, .bytes = other, .stack = t.Stack({"main", "Table"})}, 1);
  for (int i = 0; i < count; ++i) {
    memory.Allocate({.track = main, .bytes = bytes, .stack = stack}, 10 + i);
  }
  return Found(With(std::move(t), std::move(memory)), FindingKind::kLeak);
}

TEST(MemoryFindingsTest, BlocksThatNobodyFrees) {
  const auto found = Leak(200, kMiB / 100, kMiB);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "200 blocks of together 2.00 MiB that Insert allocated were not "
            "freed when the recording ended");
  EXPECT_EQ(found[0].bytes, 200 * (kMiB / 100));
  EXPECT_EQ(found[0].evidence.name, "Insert");
}

using Frames = std::initializer_list<std::string_view>;

// How the findings name leaks of these stacks, the largest of which is first.
std::vector<std::string> NamesOfLeaks(std::initializer_list<Frames> stacks) {
  TestTrace t;
  t.SetWindow(0, 40 * kMs);
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "main");
  TestMemory memory;
  int64_t bytes = 4 * kMiB / 100;
  for (const Frames& frames : stacks) {
    const model::StackId stack = t.Stack(frames);
    for (int i = 0; i < 100; ++i) {
      memory.Allocate({.track = main, .bytes = bytes, .stack = stack}, 10 + i);
    }
    bytes -= 100;
  }
  std::vector<std::string> names;
  for (const Finding& finding :
       Found(With(std::move(t), std::move(memory)), FindingKind::kLeak)) {
    const size_t begin = finding.title.find(" that ") + 6;
    names.push_back(
        finding.title.substr(begin, finding.title.find(" were not") - begin));
  }
  return names;
}

// NewNode() allocates for everybody.
TEST(MemoryFindingsTest, LeaksOfOneFunctionAreToldApartByTheirCallers) {
  EXPECT_EQ(NamesOfLeaks({{"main", "Load", "Copy", "NewNode"},
                          {"main", "Keep", "Copy", "NewNode"},
                          {"main", "Index", "NewNode"},
                          {"main", "Insert"}}),
            (std::vector<std::string>{"NewNode allocated for Load",
                                      "NewNode allocated for Keep",
                                      "NewNode allocated for Index"}));
}

TEST(MemoryFindingsTest, ALeakInACalleeIsAnotherFunctions) {
  EXPECT_EQ(NamesOfLeaks({{"main", "Load"}, {"main", "Run", "Load", "Parse"}}),
            (std::vector<std::string>{"Load allocated", "Parse allocated"}));
}

TEST(MemoryFindingsTest, CallersThatNobodyKnowsTellNoLeaksApart) {
  EXPECT_EQ(NamesOfLeaks({{"[truncated]", "NewNode"}, {"Load", "NewNode"}}),
            (std::vector<std::string>{"NewNode allocated",
                                      "NewNode allocated for Load"}));
}

TEST(MemoryFindingsTest, AHundredBlocksAreALeak) {
  EXPECT_EQ(Leak(100, kMiB, kMiB).size(), 1u);
  EXPECT_TRUE(Leak(99, kMiB, kMiB).empty());
}

TEST(MemoryFindingsTest, ATwentiethOfThePeakMatters) {
  EXPECT_EQ(Leak(100, kMiB, 1900 * kMiB).size(), 1u);
  EXPECT_TRUE(Leak(100, kMiB, 1940 * kMiB).empty());
  EXPECT_EQ(Leak(128, kMiB / 128, 1).size(), 1u);
  EXPECT_TRUE(Leak(128, kMiB / 128 - 1, 1).empty());  // less than 1 MiB
}

}  // namespace
}  // namespace kymo::analysis
