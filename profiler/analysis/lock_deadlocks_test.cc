#include "profiler/analysis/lock_deadlocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kMs = kNsPerMs;

// Threads 0, 1, ... of a run of 10 s: when each began to wait, until the end,
// and who held the lock.
struct Waiting {
  int64_t begin_ms = 0;
  uint32_t holder = model::kNoTrack;
  int64_t end_ms = 10'000;
  bool is_open = true;
  uint32_t waker = model::kNoTrack;
  int64_t lives_until_ms = 0;  // 0: as all
  int64_t pid = 7;
  const char* lock = "";
};

std::vector<LockDeadlock> Find(const std::vector<Waiting>& threads,
                               int64_t lives_until_ms = 10'000) {
  TestTrace t;
  t.SetWindow(0, 10'000 * kMs);
  std::vector<model::ThreadTimes> times;
  for (size_t i = 0; i < threads.size(); ++i) {
    const auto track =
        t.AddThread(threads[i].pid, 7 + static_cast<int>(i), "app");
    const int64_t end_ms = threads[i].lives_until_ms != 0
                               ? threads[i].lives_until_ms
                               : lives_until_ms;
    times.push_back({.track = track,
                     .wall_ns = end_ms * kMs,
                     .begin_ns = 1,
                     .end_ns = end_ms * kMs});
  }
  t.SetThreadTimes(std::move(times));
  for (size_t i = 0; i < threads.size(); ++i) {
    const Waiting& wait = threads[i];
    t.AddWait({.track = static_cast<model::TrackIndex>(i),
               .kind = model::WaitKind::kLock,
               .is_open = wait.is_open,
               .begin_ns = wait.begin_ms * kMs,
               .duration_ns = (wait.end_ms - wait.begin_ms) * kMs,
               .object_name = t.Intern(wait.lock),
               .waker = wait.waker,
               .holder = wait.holder});
  }
  return LockDeadlocks(std::move(t).Build());
}

TEST(LockDeadlocksTest, ACircleBeginsWithTheFirstThatWaited) {
  const auto found = Find({{30, 1}, {20, 2}, {40, 0}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].circle, ElementsAre(1, 2, 0));
  EXPECT_THAT(found[0].others, IsEmpty());
}

TEST(LockDeadlocksTest, OthersWaitForTheCircleDirectlyOrNot) {
  const auto found = Find({{50, 1}, {60, 3}, {10, 3}, {20, 4}, {30, 3}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].circle, ElementsAre(3, 4));
  EXPECT_THAT(found[0].others, testing::UnorderedElementsAre(0, 1, 2));
}

TEST(LockDeadlocksTest, AThreadMayWaitForItself) {
  const auto found = Find({{10, 0}, {20, 2}, {20, 1}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].circle, ElementsAre(0));
  EXPECT_THAT(found[1].circle, ElementsAre(1, 2));
}

TEST(LockDeadlocksTest, AHolderThatRunsIsInNone) {
  EXPECT_THAT(Find({{10, 1}, {20, 2}, {20}}), IsEmpty());
  EXPECT_THAT(Find({}), IsEmpty());
  EXPECT_THAT(LockDeadlocks(TestTrace().Build()), IsEmpty());
}

// It may have given the lock back after it was seen with it.
TEST(LockDeadlocksTest, AHolderMustHaveWaitedBeforeItWasSeen) {
  EXPECT_EQ(Find({{0, 1}, {2'500, 0}}).size(), 1u);
  EXPECT_THAT(Find({{0, 1}, {2'501, 0}}), IsEmpty());
}

TEST(LockDeadlocksTest, WaitsThatEndedAreInNone) {
  EXPECT_EQ(Find({{10, 1, 9'900, false}, {20, 0, 9'950, false}}).size(), 1u);
  EXPECT_THAT(Find({{10, 1, 9'899, false}, {20, 0, 9'950, false}}), IsEmpty());
  EXPECT_THAT(Find({{9'901, 1}, {9'850, 0}}), IsEmpty());
  // One gave up and gave its lock back, and both ended soon after.
  EXPECT_THAT(Find({{10, 1, 9'900, false}, {20, 0, 9'950, false, 0}}),
              IsEmpty());
  // The program was killed.
  EXPECT_EQ(Find({{10, 1, 700, false}, {20, 0, 700, false}}, 701).size(), 1u);
}

// Nobody can give back what a thread held that has ended. It may have given the
// lock to another one if it ended after it was last seen.
TEST(LockDeadlocksTest, AHolderMayHaveEnded) {
  constexpr uint32_t kNone = model::kNoTrack;
  // The holder itself waited for nothing at its end.
  const auto holder = [](int64_t lives_until_ms) {
    return Waiting{.end_ms = 0, .lives_until_ms = lives_until_ms};
  };
  // Thread 3 waits for what thread 1 has.
  const auto found = Find({holder(2'000), {30, 0}, {20, 0}, {40, 1}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cause, DeadlockCause::kEndedHolder);
  EXPECT_THAT(found[0].circle, ElementsAre(2));
  EXPECT_THAT(found[0].others, testing::UnorderedElementsAre(1, 3));
  EXPECT_EQ(Find({holder(2'500), {0, 0}}).size(), 1u);
  EXPECT_THAT(Find({holder(2'501), {0, 0}}), IsEmpty());
  EXPECT_THAT(Find({holder(2'000), {20, 0, 9'000, false}}), IsEmpty());
  EXPECT_THAT(Find({holder(2'000), {20, kNone}}), IsEmpty());
}

TEST(LockDeadlocksTest, AForkedProcessHasNoneOfItsParentsHolders) {
  // The parent's first thread holds the lock, waits itself, and lives.
  const auto find = [](const char* lock) {
    return Find({{10},
                 {.begin_ms = 30, .holder = 0, .pid = 8, .lock = lock},
                 {.begin_ms = 20, .holder = 0, .pid = 9, .lock = lock}});
  };
  const auto found = find("journal");
  ASSERT_EQ(found.size(), 2u);  // each process has a lock of its own
  EXPECT_EQ(found[0].cause, DeadlockCause::kFork);
  EXPECT_THAT(found[0].circle, ElementsAre(1));
  EXPECT_THAT(found[1].circle, ElementsAre(2));
  EXPECT_THAT(find("shared memory+0x40"), IsEmpty());
}

// Each waits for the next one, as in a list whose nodes are locked in turn. By
// the square of their number it would take a minute.
TEST(LockDeadlocksTest, ALongChainTakesNoTime) {
  constexpr uint32_t kThreads = 100'000;
  std::vector<Waiting> threads;
  for (uint32_t i = 0; i < kThreads; ++i) threads.push_back({10, i + 1});
  threads.back().holder = model::kNoTrack;
  EXPECT_THAT(Find(threads), IsEmpty());
  threads.back().holder = kThreads / 2;
  const auto found = Find(threads);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].circle.size(), kThreads / 2);
  EXPECT_EQ(found[0].others.size(), kThreads / 2);
}

}  // namespace
}  // namespace kymo::analysis
