// A session that tells where its own threads waited.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sampling/perf_events.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/waits.h"
#include "profiler/base/clock.h"
#include "tests/support/test_threads.h"

namespace kymo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void SleepMs(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// Of a thread of this process, which may have threads of oneTBB, too.
const model::ThreadTimes* TimesOf(const model::Trace& trace, pid_t tid) {
  for (const model::ThreadTimes& times : trace.thread_states()->threads) {
    const model::Track& track = trace.tracks()[times.track];
    if (track.pid == getpid() && track.id == tid) return &times;
  }
  return nullptr;
}

// The longest sleep of a thread of this process. Empty if it never slept.
model::Wait LongestSleepOf(const model::Trace& trace, pid_t tid) {
  model::Wait longest;
  for (const model::Wait& wait : trace.thread_states()->waits) {
    const model::Track& track = trace.tracks()[wait.track];
    if (track.pid == getpid() && track.id == tid &&
        wait.kind == model::WaitKind::kSleep &&
        wait.duration_ns > longest.duration_ns) {
      longest = wait;
    }
  }
  return longest;
}

TimeNs Now() { return MonotonicNs() + EpochOffsetNs(); }

// A function that a stack shows.
__attribute__((noinline)) void TakeAndGiveBack(std::mutex& mutex) {
  mutex.lock();
  mutex.unlock();
}

bool IsIn(const model::Trace& trace, model::StackId stack,
          std::string_view function) {
  return std::ranges::any_of(
      trace.stacks().Frames(stack), [&](const model::FrameId frame) {
        return trace.strings()
                   .Get(trace.stacks().frame(frame).function)
                   .find(function) != std::string_view::npos;
      });
}

class WaitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status status = sampling::PerfEvents::ProbeSwitches();
    if (!status.ok()) GTEST_SKIP() << "NOT TESTED HERE: " << status;
  }
};

TEST_F(WaitsTest, RangesHaveTheWaitsOfTheirThreads) {
  Profile profile({.activities = {"cpu", "off_cpu"}});
  ASSERT_TRUE(profile.Start().ok());
  const TimeNs begin_ns = Now();
  {
    KYMO_RECORD_FUNCTION("sleeps");
    SleepMs(100);
  }
  { KYMO_RECORD_FUNCTION("is short"); }
  ASSERT_TRUE(profile.Stop().ok());
  const KeyAverages averages = profile.key_averages();
  ASSERT_TRUE(averages.status().ok()) << averages.status();
  ASSERT_EQ(averages.size(), 2u);
  for (const FunctionEventAvg& row : averages) {
    ASSERT_TRUE(row.wait_time_total.has_value()) << row.key;
    if (row.key == "sleeps") {
      const model::Wait sleep = LongestSleepOf(*profile.trace(), getpid());
      EXPECT_GE(sleep.end_ns(), begin_ns + 100 * kNsPerMs);
      EXPECT_GT(sleep.duration_ns, 0);
      EXPECT_GE(*row.wait_time_total * 1e3,
                static_cast<double>(sleep.duration_ns));
      EXPECT_LE(*row.wait_time_total, row.cpu_time_total);
    }
  }
  EXPECT_THAT(averages.table({.sort_by = "cpu_time_total"}),
              Not(HasSubstr("Wait")));
  EXPECT_THAT(averages.table({.sort_by = "wait_time_total"}),
              HasSubstr("     On CPU     Wait time        Wait %  "));
  EXPECT_THAT(report::WaitsText(*profile.trace(), -1), HasSubstr("SleepMs"));
}

// Whether the session records ranges of one thread or of all.
TEST_F(WaitsTest, AllThreadsOfTheProcessAreTimed) {
  for (const bool all : {false, true}) {
    Profile profile({.activities = {"cpu", "off_cpu"},
                     .experimental_config = {.profile_all_threads = all}});
    ASSERT_TRUE(profile.Start().ok());
    std::atomic<pid_t> waiter_tid = 0;
    std::mutex mutex;
    mutex.lock();
    std::thread waiter([&] {
      waiter_tid = gettid();
      TakeAndGiveBack(mutex);
    });
    while (waiter_tid == 0) SleepMs(1);  // it may begin late
    ASSERT_TRUE(AwaitState(waiter_tid, 'S'));
    SleepMs(100);
    mutex.unlock();
    waiter.join();
    ASSERT_TRUE(profile.Stop().ok());
    const auto states = profile.trace()->thread_states();
    ASSERT_NE(states, nullptr);
    EXPECT_NE(TimesOf(*profile.trace(), getpid()), nullptr);
    EXPECT_NE(TimesOf(*profile.trace(), waiter_tid), nullptr);
    // A lock of the library may be another one.
    auto locks = analysis::WaitsByLock(*profile.trace());
    std::erase_if(locks, [&](const analysis::LockWaits& lock) {
      return lock.waiters.empty() ||
             !IsIn(*profile.trace(), lock.waiters[0].stack, "TakeAndGiveBack");
    });
    ASSERT_EQ(locks.size(), 1u);
    EXPECT_EQ(locks[0].count, 1u);
    EXPECT_GE(locks[0].duration_ns, 40 * kNsPerMs);
  }
}

TEST_F(WaitsTest, EveryCycleHasItsOwnWaits) {
  Profile profile({.activities = {"cpu", "off_cpu"},
                   .schedule = *MakeSchedule({.warmup = 1, .active = 1}),
                   .keep_cycles = true});
  ASSERT_TRUE(profile.Start().ok());
  std::vector<TimeNs> ends_ns, begins_ns;  // of steps
  for (int step = 0; step < 4; ++step) {
    begins_ns.push_back(Now());
    SleepMs(step % 2 == 0 ? 40 : 20);
    ends_ns.push_back(Now());
    ASSERT_TRUE(profile.Step().ok());
  }
  begins_ns.push_back(Now());
  ASSERT_TRUE(profile.Stop().ok());
  ASSERT_GE(profile.cycles().size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const auto states = profile.cycles()[i]->trace().thread_states();
    ASSERT_NE(states, nullptr);
    const model::ThreadTimes* const times =
        TimesOf(profile.cycles()[i]->trace(), getpid());
    ASSERT_NE(times, nullptr);
    // Of the step that was recorded, and what ends it and the one before.
    const size_t step = 2 * i + 1;
    EXPECT_GE(times->wall_ns, ends_ns[step] - begins_ns[step]);
    EXPECT_LE(times->wall_ns, begins_ns[step + 1] - ends_ns[step - 1]);
    const model::Wait sleep =
        LongestSleepOf(profile.cycles()[i]->trace(), getpid());
    // The time that switches take is on a CPU, and in waits, too.
    EXPECT_GE(times->blocked_ns() + times->runnable_ns,
              sleep.duration_ns - kNsPerMs);
    EXPECT_GE(sleep.begin_ns, begins_ns[step]);
    EXPECT_GE(sleep.end_ns(), begins_ns[step] + 20 * kNsPerMs);
    EXPECT_LE(sleep.end_ns(), ends_ns[step]);
  }
}

}  // namespace
}  // namespace kymo
