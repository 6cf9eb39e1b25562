#include "profiler/normalize/holder_stacks.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::StackId;

// Nine stacks of the program, which has five threads.
TestTrace NineStacks() {
  TestTrace t;
  for (int thread = 0; thread < 5; ++thread) t.AddThread(7, 7 + thread, "app");
  t.Stack({"1", "2", "3", "4", "5", "6", "7", "8", "9"});
  return t;
}

TEST(HolderStacksTest, TheFirstSampleWithinTheWaitCounts) {
  TestTrace t = NineStacks();
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
    FindHolderStacks(samples, t.data(), states);
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
  TestTrace t = NineStacks();
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
  FindHolderStacks(samples, t.data(), states);
  EXPECT_EQ(states.waits[0].holder_stack, StackId{2});
}

// Its thread works on, without that.
TEST(HolderStacksTest, ALockThatWasHeldAtAForkIsHeldNowhere) {
  const std::vector<model::StackSample> samples = {
      {.track = 1, .stack = StackId{1}, .time_ns = 12}};
  TestTrace t = NineStacks();
  t.data().tracks[0].pid = 20;
  const auto stack = [&](const char* object) {
    model::ThreadStates states;
    states.waits = {{.track = 0,
                     .kind = model::WaitKind::kLock,
                     .begin_ns = 10,
                     .duration_ns = 10,
                     .object_name = t.Intern(object),
                     .holder = 1}};
    FindHolderStacks(samples, t.data(), states);
    return states.waits[0].holder_stack;
  };
  EXPECT_EQ(stack("journal"), model::kEmptyStack);
  EXPECT_EQ(stack("shared memory+0x40"), StackId{1});
}

TEST(HolderStacksTest, AHolderThatDidNotRunWasWhereItWasBlocked) {
  const auto wait = [](model::TrackIndex track, model::WaitKind kind,
                       TimeNs begin_ns, DurationNs duration_ns, uint32_t stack,
                       uint64_t object = 0) {
    return model::Wait{.track = track,
                       .kind = kind,
                       .begin_ns = begin_ns,
                       .duration_ns = duration_ns,
                       .stack = StackId{stack},
                       .object = object};
  };
  constexpr auto kLock = model::WaitKind::kLock;
  constexpr auto kSleep = model::WaitKind::kSleep;
  model::ThreadStates states;
  states.waits = {wait(0, kLock, 10, 10, 1, 7), wait(1, kSleep, 5, 6, 2),
                  wait(1, kSleep, 12, 4, 3), wait(1, kLock, 17, 9, 4, 7),
                  wait(2, kSleep, 12, 9, 5)};
  states.waits[0].holder = 1;
  FindHolderStacks({}, NineStacks().data(), states);
  EXPECT_EQ(states.waits[0].holder_stack, StackId{3});
  EXPECT_EQ(states.waits[1].holder_stack, model::kEmptyStack);
}

TEST(HolderStacksTest, APreemptedThreadWasWhereItsLastSampleIs) {
  TestTrace t;
  const std::vector<model::StackSample> samples = {
      {.track = 1, .stack = StackId{1}, .time_ns = 15},
      {.track = 2, .stack = StackId{2}, .time_ns = 100},
      {.track = 2, .stack = StackId{3}, .time_ns = 112},
      {.track = 2, .stack = StackId{4}, .time_ns = 200}};
  constexpr auto kBusy = model::WaitKind::kCpuBusy;
  constexpr DurationNs kLongNs = 30'000'000;
  model::ThreadStates states;
  states.waits = {
      {.track = 0, .kind = kBusy, .begin_ns = 20, .duration_ns = 5},
      {.track = 2, .kind = kBusy, .begin_ns = 90, .duration_ns = 5},
      {.track = 2, .kind = kBusy, .begin_ns = 115, .duration_ns = 5},
      {.track = 2, .kind = kBusy, .begin_ns = 121, .duration_ns = 5},
      {.track = 2,
       .kind = model::WaitKind::kSleep,
       .begin_ns = 130,
       .duration_ns = 5},
      {.track = 2, .kind = kBusy, .begin_ns = 140, .duration_ns = 5},
      {.track = 2, .kind = kBusy, .begin_ns = 200 + kLongNs, .duration_ns = 5},
      {.track = 3, .kind = kBusy, .begin_ns = 210, .duration_ns = 5}};
  FindBusyStacks(samples, t.data(), states);
  std::vector<StackId> stacks;
  for (const model::Wait& wait : states.waits) stacks.push_back(wait.stack);
  EXPECT_EQ(stacks,
            (std::vector<StackId>{StackId{}, StackId{}, StackId{3}, StackId{3},
                                  StackId{}, StackId{}, StackId{}, StackId{}}));
}

TEST(HolderStacksTest, AThreadThatWasStoppedInTheClockWasWhereItsLastSampleIs) {
  TestTrace t;
  const StackId main = t.Stack({"main"}, "/bin/app");
  const StackId clock = t.Stack({"__vdso_clock_gettime"}, "[vdso]");
  const model::NameId stopped = t.Intern("stopped");
  const std::vector<model::StackSample> samples = {
      {.track = 1, .stack = main, .time_ns = 15}};
  const auto stack = [&](StackId seen, model::NameId object, TimeNs begin_ns) {
    model::ThreadStates states;
    states.waits = {{.track = 1,
                     .kind = model::WaitKind::kOther,
                     .begin_ns = begin_ns,
                     .duration_ns = 5,
                     .stack = seen,
                     .object_name = object}};
    FindBusyStacks(samples, t.data(), states);
    return states.waits[0].stack;
  };
  EXPECT_EQ(stack(clock, stopped, 20), main);
  EXPECT_EQ(stack(clock, stopped, 10), clock);  // no sample comes before
  EXPECT_EQ(stack(clock, model::kEmptyName, 20), clock);
  const StackId other = t.Stack({"Now"}, "/bin/app");
  EXPECT_EQ(stack(other, stopped, 20), other);
}

TEST(HolderStacksTest, SamplesAfterTheWaitAreOfSomethingElse) {
  const std::vector<model::StackSample> samples = {
      {.track = 1, .stack = StackId{1}, .time_ns = 21}};
  model::ThreadStates states;
  TestTrace t = NineStacks();
  states.waits = {{.begin_ns = 10, .duration_ns = 10, .holder = 1}};
  FindHolderStacks(samples, t.data(), states);
  EXPECT_EQ(states.waits[0].holder_stack, model::kEmptyStack);
}

TEST(HolderStacksTest, AHookIsNoFunctionOfTheProgram) {
  TestTrace t = NineStacks();
  const StackId work = t.Stack({"Work()"});
  StackId stack = work;
  for (const char* const hook : {"pthread_mutex_unlock", "HashOfPlace"}) {
    stack = t.data().stacks.Push(
        stack, t.data().stacks.AddFrame(
                   {.function = t.Intern(hook),
                    .module = t.Intern("/opt/kymo/libkymo_runtime.so")}));
  }
  const std::vector<model::StackSample> samples = {
      {.track = 1, .stack = stack, .time_ns = 15}};
  model::ThreadStates states;
  states.waits = {{.begin_ns = 10, .duration_ns = 10, .holder = 1}};
  FindHolderStacks(samples, t.data(), states);
  EXPECT_EQ(states.waits[0].holder_stack, work);
}

}  // namespace
}  // namespace kymo
