#include "backends/off_cpu/calls/noted_wakes.h"

#include <gtest/gtest.h>

namespace kymo::off_cpu {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr NotedWakes::Object kLock = {7, 0x1000};

class NotedWakesTest : public ::testing::Test {
 protected:
  void Wake(uint32_t tid, uint64_t time_ns, NotedWakes::Object object = kLock,
            bool is_shared = false) {
    wakes_.Add({.pid = object.first,
                .tid = tid,
                .is_wake = true,
                .begin_ns = time_ns,
                .end_ns = time_ns,
                .object = object.second,
                .is_shared = is_shared});
  }
  // 0: nobody.
  uint32_t Find(uint64_t begin_ns, uint64_t end_ns) const {
    const NotedCall* const wake = wakes_.Find(kLock, 8, begin_ns, end_ns);
    return wake == nullptr ? 0 : wake->tid;
  }

  NotedWakes wakes_;
};

TEST_F(NotedWakesTest, TheLastWakeInAWaitEndedIt) {
  EXPECT_EQ(Find(0, 10 * kMs), 0u);
  Wake(1, kMs);
  Wake(2, 2 * kMs);
  Wake(3, 3 * kMs);
  EXPECT_EQ(Find(0, 2 * kMs + 1), 2u);
  EXPECT_EQ(Find(0, 10 * kMs), 3u);
  // It came before the wait.
  EXPECT_EQ(Find(4 * kMs, 10 * kMs), 0u);
  // The clocks of the two are not read at once.
  EXPECT_EQ(Find(3 * kMs + 5'000, 10 * kMs), 3u);
}

TEST_F(NotedWakesTest, OtherObjectsAndTheThreadItselfDoNotCount) {
  Wake(1, kMs);
  Wake(8, 2 * kMs);
  Wake(2, 2 * kMs, {7, 0x2000});
  Wake(3, 2 * kMs, {9, 0x1000});
  EXPECT_EQ(Find(0, 10 * kMs), 1u);
}

TEST_F(NotedWakesTest, ProcessesThatShareAnObjectWakeEachOther) {
  Wake(3, kMs, {9, 0x1000});
  EXPECT_EQ(Find(0, 10 * kMs), 0u);
  Wake(4, 2 * kMs, {9, 0x1000}, /*is_shared=*/true);
  EXPECT_EQ(Find(0, 10 * kMs), 4u);
  EXPECT_EQ(Find(3 * kMs, 10 * kMs), 0u);
  Wake(5, 3 * kMs, {9, 0x2000}, true);
  EXPECT_EQ(Find(0, 10 * kMs), 4u);
}

TEST_F(NotedWakesTest, MemoryIsBounded) {
  for (uint64_t i = 1; i <= 1'000; ++i) Wake(1, i * kMs);
  EXPECT_EQ(Find(0, kMs), 0u);
  EXPECT_EQ(Find(0, 1'000 * kMs), 1u);
  for (uint64_t i = 0; i < 60'000; ++i) Wake(2, kMs, {7, 0x10000 + i});
  EXPECT_EQ(Find(0, 1'000 * kMs), 0u);
}

}  // namespace
}  // namespace kymo::off_cpu
