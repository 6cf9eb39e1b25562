#include "profiler/analysis/call_tree.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/base/parallel.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CallTreeTest, TakesDirectChildrenFromTheirParent) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 100);
  t.AddRange(main, "b", 10, 60);
  t.AddRange(main, "c", 20, 30);
  t.AddRange(main, "d", 60, 65);
  EXPECT_THAT(SelfTimes(std::move(t).Build()), ElementsAre(45, 40, 10, 5));
}

TEST(CallTreeTest, EmptyTraceHasNone) {
  EXPECT_THAT(SelfTimes(TestTrace().Build()), IsEmpty());
}

TEST(CallTreeTest, InstantsAndAsyncRangesCountNothing) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 100);
  t.AddInstant(main, "i", 10);
  t.AddRange(main, "async", 20, 500, model::ActivityType::kCpuOp,
             model::kEventAsync);
  t.AddRange(main, "b", 30, 40);
  EXPECT_THAT(SelfTimes(std::move(t).Build()), ElementsAre(90, 0, 0, 10));
}

TEST(CallTreeTest, OverlappingChildrenMakeItNegative) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 10);
  t.AddRange(main, "b", 1, 8);
  t.AddRange(main, "c", 2, 10);
  EXPECT_THAT(SelfTimes(std::move(t).Build()), ElementsAre(-5, 7, 8));
}

TEST(CallTreeTest, ThreadsAreApart) {
  TestTrace t;
  const auto one = t.AddThread(1, 1, "one");
  t.AddRange(one, "a", 0, 100);
  const auto two = t.AddThread(1, 2, "two");
  t.AddRange(two, "b", 10, 20);
  EXPECT_THAT(SelfTimes(std::move(t).Build()), ElementsAre(100, 10));
}

// Parents and children in different ranges of the parallel pass.
TEST(CallTreeTest, RootOverManyRangesLosesAllItsChildren) {
  constexpr int kChildren = 300'000;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "root", 0, 10 * kChildren);
  for (int i = 0; i < kChildren / 2; ++i) {
    t.AddRange(main, "child", 20 * i, 20 * i + 9);
    t.AddRange(main, "grandchild", 20 * i + 1, 20 * i + 3);
  }
  const auto self = SelfTimes(std::move(t).Build());
  EXPECT_EQ(self[0], 10 * kChildren - 9 * (kChildren / 2));
  EXPECT_EQ(self[kChildren - 1], 7);
  EXPECT_EQ(self[kChildren], 2);
}

}  // namespace
}  // namespace kymo::analysis
