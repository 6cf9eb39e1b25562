#include "profiler/normalize/holder_stacks.h"

#include <gtest/gtest.h>

#include <vector>

namespace kymo {
namespace {

using model::StackId;

TEST(HolderStacksTest, TheFirstSampleWithinTheWaitCounts) {
  const std::vector<model::StackSample> samples = {
      {.track = 1, .stack = StackId{1}, .time_ns = 15},
      {.track = 2, .stack = StackId{2}, .time_ns = 9},
      {.track = 2, .stack = StackId{3}, .time_ns = 12},
      {.track = 2, .stack = StackId{4}, .time_ns = 14},
      {.track = 3, .stack = StackId{5}, .time_ns = 15}};
  const auto stack = [&](model::Wait wait) {
    wait.begin_ns = 10;
    wait.duration_ns = 10;
    model::ThreadStates states;
    states.waits = {wait};
    FindHolderStacks(samples, states);
    return states.waits[0].holder_stack;
  };
  EXPECT_EQ(stack({.holder = 2}), StackId{3});
  EXPECT_EQ(stack({.holder = 2, .holder_stack = StackId{9}}), StackId{9});
  EXPECT_EQ(stack({.holder = 0}), model::kEmptyStack);
  EXPECT_EQ(stack({.holder = 4}), model::kEmptyStack);
  EXPECT_EQ(stack({}), model::kEmptyStack);
}

TEST(HolderStacksTest, BeforeItsOwnWaitTheHolderDidNotHaveTheLock) {
  const std::vector<model::StackSample> samples = {
      {.track = 1, .stack = StackId{1}, .time_ns = 12},
      {.track = 1, .stack = StackId{2}, .time_ns = 16}};
  model::ThreadStates states;
  states.waits = {{.track = 0,
                   .kind = model::WaitKind::kLock,
                   .begin_ns = 10,
                   .duration_ns = 10,
                   .object = 7,
                   .holder = 1},
                  {.track = 1,
                   .kind = model::WaitKind::kLock,
                   .begin_ns = 11,
                   .duration_ns = 4,
                   .object = 7}};
  FindHolderStacks(samples, states);
  EXPECT_EQ(states.waits[0].holder_stack, StackId{2});
}

TEST(HolderStacksTest, SamplesAfterTheWaitAreOfSomethingElse) {
  const std::vector<model::StackSample> samples = {
      {.track = 1, .stack = StackId{1}, .time_ns = 21}};
  model::ThreadStates states;
  states.waits = {{.begin_ns = 10, .duration_ns = 10, .holder = 1}};
  FindHolderStacks(samples, states);
  EXPECT_EQ(states.waits[0].holder_stack, model::kEmptyStack);
}

}  // namespace
}  // namespace kymo
