// A session that tells where its own threads waited.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sampling/perf_events.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/waits.h"

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
      // The clock of the sleep runs while the thread is on its way to it.
      const model::ThreadTimes* const times =
          TimesOf(*profile.trace(), getpid());
      ASSERT_NE(times, nullptr);
      const DurationNs awake_ns = times->on_cpu_ns + times->runnable_ns;
      EXPECT_GE(*row.wait_time_total * 1e3,
                static_cast<double>(100 * kNsPerMs - awake_ns));
      EXPECT_LT(awake_ns, 100 * kNsPerMs);
      EXPECT_LE(*row.wait_time_total, row.cpu_time_total);
    }
  }
  EXPECT_THAT(averages.table({.sort_by = "cpu_time_total"}),
              Not(HasSubstr("Wait")));
  EXPECT_THAT(averages.table({.sort_by = "wait_time_total"}),
              HasSubstr("   CPU time     Wait time        Wait %  "));
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
      mutex.lock();
      mutex.unlock();
    });
    while (waiter_tid == 0) SleepMs(1);  // it may begin late
    SleepMs(100);
    mutex.unlock();
    waiter.join();
    ASSERT_TRUE(profile.Stop().ok());
    const auto states = profile.trace()->thread_states();
    ASSERT_NE(states, nullptr);
    EXPECT_NE(TimesOf(*profile.trace(), getpid()), nullptr);
    EXPECT_NE(TimesOf(*profile.trace(), waiter_tid), nullptr);
    const auto locks = analysis::WaitsByLock(*profile.trace());
    ASSERT_EQ(locks.size(), 1u);
    EXPECT_GE(locks[0].duration_ns, 40 * kNsPerMs);
  }
}

TEST_F(WaitsTest, EveryCycleHasItsOwnWaits) {
  Profile profile({.activities = {"cpu", "off_cpu"},
                   .schedule = *MakeSchedule({.warmup = 1, .active = 1}),
                   .keep_cycles = true});
  ASSERT_TRUE(profile.Start().ok());
  for (int step = 0; step < 4; ++step) {
    SleepMs(step % 2 == 0 ? 40 : 20);
    ASSERT_TRUE(profile.Step().ok());
  }
  ASSERT_TRUE(profile.Stop().ok());
  ASSERT_GE(profile.cycles().size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const auto states = profile.cycles()[i]->trace().thread_states();
    ASSERT_NE(states, nullptr);
    const model::ThreadTimes* const times =
        TimesOf(profile.cycles()[i]->trace(), getpid());
    ASSERT_NE(times, nullptr);
    EXPECT_GE(times->blocked_ns(), 15 * kNsPerMs);
    EXPECT_LT(times->wall_ns, 200 * kNsPerMs);
  }
}

}  // namespace
}  // namespace kymo
