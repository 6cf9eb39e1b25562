#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

constexpr int64_t kMs = kNsPerMs;

// Threads "t0", "t1", ... of a run of 1 s. Each waits from 100, 101, ... ms on
// for a lock of its own, in Wait0, Wait1, ... The last ends at that time; 0: as
// the others.
TestTrace Waiting(std::initializer_list<model::TrackIndex> holders,
                  const std::string& lock = "", TimeNs last_end_ns = 0) {
  TestTrace t;
  t.SetWindow(0, 1000 * kMs);
  std::vector<model::ThreadTimes> times;
  for (size_t i = 0; i < holders.size(); ++i) {
    times.push_back({.track = t.AddThread(7, 7 + static_cast<int>(i),
                                          "t" + std::to_string(i)),
                     .wall_ns = 1000 * kMs});
  }
  times.back().end_ns = last_end_ns;
  t.SetThreadTimes(std::move(times), 8);
  int64_t i = 0;
  for (const model::TrackIndex holder : holders) {
    const std::string place = "Wait" + std::to_string(i);
    t.AddWait({.track = static_cast<model::TrackIndex>(i),
               .kind = model::WaitKind::kLock,
               .is_open = true,
               .begin_ns = (100 + i) * kMs,
               .duration_ns = (900 - i) * kMs,
               .object = static_cast<uint64_t>(0x10 + i),
               .object_name = lock.empty() ? model::kEmptyName
                                           : t.Intern(lock + std::to_string(i)),
               .holder = holder},
              {"main", place});
    ++i;
  }
  return t;
}

TEST(DeadlockFindingsTest, TwoThreadsAndWhoWaitsForThem) {
  const model::Trace trace = Waiting({1, 0, 1}).Build();
  const auto found = FindFindings(trace);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, FindingKind::kDeadlock);  // before all others
  EXPECT_EQ(found[0].title,
            "Deadlock of 2 threads for 899 ms: thread t0 (7) waits in Wait0 "
            "for the lock 0x10, held by thread t1 (8), which waits in Wait1 "
            "for the lock 0x11, held by thread t0 (7); 1 thread more waits for "
            "these");
  EXPECT_TRUE(found[0].next_step.starts_with("Take these locks in the same"));
  EXPECT_EQ(found[0].time_ns, (900 + 899 + 898) * kMs);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kInterval);
  EXPECT_EQ(found[0].evidence.track, 0u);
  EXPECT_EQ(found[0].evidence.name, "Wait0");
  EXPECT_EQ(found[0].evidence.begin_ns, 100 * kMs);
  EXPECT_NE(found[0].evidence.stack, model::kEmptyStack);
  // These are locks that nobody will give back, and none that are held long.
  const auto locks = Found(trace, FindingKind::kLockContention);
  ASSERT_EQ(locks.size(), 1u);
  EXPECT_NE(locks[0].title.find("the lock 0x12,"), std::string::npos);
}

// Its addresses may differ, and its name says which one it is.
TEST(DeadlockFindingsTest, ALockThatProcessesShareIsNoContentionEither) {
  const model::Trace trace = Waiting({1, 0}, "shared memory+0x").Build();
  EXPECT_EQ(Found(trace, FindingKind::kDeadlock).size(), 1u);
  EXPECT_EQ(Found(trace, FindingKind::kLockContention).size(), 0u);
}

TEST(DeadlockFindingsTest, OneThreadAlone) {
  const auto found = Found(Waiting({0}), FindingKind::kDeadlock);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Deadlock of 1 thread for 900 ms: thread t0 (7) waits in Wait0 for "
            "the lock 0x10, which it holds itself");
  EXPECT_TRUE(found[0].next_step.starts_with("The thread has this lock"));
}

TEST(DeadlockFindingsTest, AHolderThatHasEnded) {
  const auto found = Found(Waiting({1, model::kNoTrack}, "", 50 * kMs),
                           FindingKind::kDeadlock);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Deadlock of 1 thread for 900 ms: thread t0 (7) waits in Wait0 for "
            "the lock 0x10, held by thread t1 (8), which has ended");
  EXPECT_TRUE(found[0].next_step.starts_with("A thread must give back"));
}

TEST(DeadlockFindingsTest, AForkedProcess) {
  TestTrace t = Waiting({1, model::kNoTrack});
  t.data().tracks[0].pid = 20;
  const auto found = Found(std::move(t), FindingKind::kDeadlock);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Deadlock of 1 thread for 900 ms: thread t0 (7) waits in Wait0 for "
            "the lock 0x10, which thread t1 (8) of process 7 held when that "
            "forked process 20");
  EXPECT_TRUE(found[0].next_step.starts_with("fork() copies the locks"));
}

TEST(DeadlockFindingsTest, OfManyThreadsTheFirstFourAreNamed) {
  const auto found = Found(Waiting({1, 2, 3, 4, 0}), FindingKind::kDeadlock);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].title.find("waits in Wait3 for the lock 0x13, held by "
                                "thread t4 (11), and so on"),
            std::string::npos)
      << found[0].title;
  EXPECT_EQ(found[0].title.find("Wait4"), std::string::npos);
}

}  // namespace
}  // namespace kymo::analysis
