#include "backends/off_cpu/calls/noted_wakes.h"

#include <gtest/gtest.h>

#include <utility>

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

TEST_F(NotedWakesTest, AWaitForAConditionGoesOnForItsMutexOnlyOnceItIsWoken) {
  constexpr NotedWakes::Object kMutex = {7, 0x2000};
  NotedCall call = {.pid = 7,
                    .tid = 8,
                    .begin_ns = kMs,
                    .end_ns = 20 * kMs,
                    .object = kLock.second,
                    .mutex = kMutex.second};
  const auto find = [&](uint64_t begin_ns, uint64_t end_ns, bool is_first) {
    const auto found = wakes_.FindInCall(call, {.pid = 7,
                                                .begin_ns = begin_ns,
                                                .end_ns = end_ns,
                                                .is_first = is_first});
    const uint32_t waker = found.wake == nullptr ? 0 : found.wake->tid;
    return std::pair(waker, found.is_of_mutex);
  };
  // A broadcast wakes two threads, and the other one has the mutex first.
  Wake(1, 10 * kMs);
  Wake(2, 12 * kMs, kMutex);
  // The thread was preempted in the call before it waited.
  EXPECT_EQ(find(2 * kMs, 13 * kMs, false), std::pair(1u, false));
  EXPECT_EQ(find(2 * kMs, 13 * kMs, true), std::pair(1u, false));
  EXPECT_EQ(find(11 * kMs, 13 * kMs, false), std::pair(2u, true));
  EXPECT_EQ(find(11 * kMs, 13 * kMs, true), std::pair(0u, false));
  // Once it is woken, what others are woken by does not matter.
  Wake(3, 14 * kMs);
  Wake(4, 15 * kMs, kMutex);
  EXPECT_EQ(find(11 * kMs, 16 * kMs, false), std::pair(4u, true));
  // At its time limit a thread leaves the condition without a wake.
  call.has_timed_out = true;
  EXPECT_EQ(find(2 * kMs, 13 * kMs, false), std::pair(2u, true));
  EXPECT_EQ(find(2 * kMs, 13 * kMs, true), std::pair(0u, false));
  // Only the calls for conditions have one.
  call.mutex = 0;
  EXPECT_EQ(find(2 * kMs, 13 * kMs, false), std::pair(0u, false));
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
