#include "profiler/analysis/averages/duplicates.h"

#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DuplicatesTest, ReplaysTheExample) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "add", 0, 10);
  t.AddRange(main, "add", 1, 9);
  t.AddRange(main, "add", 2, 8);
  t.AddRange(main, "mul", 3, 4);
  EXPECT_THAT(DuplicateRanges(std::move(t).Build()), ElementsAre(0, 1, 1, 0));
}

TEST(DuplicatesTest, SiblingsMakeItNone) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "fib", 0, 10);
  t.AddRange(main, "fib", 1, 4);
  t.AddRange(main, "fib", 5, 9);
  t.AddRange(main, "fib", 20, 30);
  t.AddRange(main, "mul", 21, 22);
  t.AddRange(main, "fib", 23, 24);
  EXPECT_THAT(DuplicateRanges(std::move(t).Build()),
              ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(DuplicatesTest, InstantsAndAsyncRangesAreNoSiblings) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "add", 0, 100);
  t.AddInstant(main, "tick", 5);
  t.AddRange(main, "async", 6, 500, model::ActivityType::kCpuOp,
             model::kEventAsync);
  t.AddRange(main, "add", 10, 90);
  EXPECT_THAT(DuplicateRanges(std::move(t).Build()), ElementsAre(0, 0, 0, 1));
}

TEST(DuplicatesTest, SecondChildFarAwayIsSeen) {
  constexpr int kInner = 300'000;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "f", 0, 10 * kInner + 100);
  t.AddRange(main, "f", 1, 10 * kInner);
  for (int i = 0; i < kInner; ++i) {
    t.AddRange(main, "g", 10 * i + 1, 10 * i + 2);
  }
  t.AddRange(main, "last", 10 * kInner + 10, 10 * kInner + 20);
  EXPECT_EQ(DuplicateRanges(std::move(t).Build())[1], 0);
}

TEST(DuplicatesTest, ManyInstantsAndChildrenAreLinear) {
  constexpr int kEach = 200'000;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "f", 0, 10 * kEach);
  for (int i = 0; i < kEach; ++i) t.AddInstant(main, "tick", 1);
  for (int i = 0; i < kEach; ++i) {
    t.AddRange(main, "f", 10 + 2 * i, 11 + 2 * i);
  }
  const auto is_duplicate = DuplicateRanges(std::move(t).Build());
  EXPECT_EQ(std::count(is_duplicate.begin(), is_duplicate.end(), 1), 0);
}

TEST(DuplicatesTest, LongChainsAreMergedWhole) {
  constexpr int kDepth = 100'000;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < kDepth; ++i) t.AddRange(main, "f", i, 3 * kDepth - i);
  const auto is_duplicate = DuplicateRanges(std::move(t).Build());
  EXPECT_EQ(std::count(is_duplicate.begin(), is_duplicate.end(), 1),
            kDepth - 1);
}

TEST(DuplicatesTest, EmptyTraceHasNone) {
  EXPECT_THAT(DuplicateRanges(TestTrace().Build()), IsEmpty());
}

}  // namespace
}  // namespace kymo::analysis
