// A process that records itself, and knows how its threads waited.
#include "backends/off_cpu/own/own_session.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/off_cpu/off_cpu_backend.h"
#include "backends/sampling/perf_events.h"
#include "profiler/base/clock.h"
#include "profiler/base/parallel.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace_shard.h"
#include "profiler/processes/schedstat.h"
#include "profiler/record/own_threads.h"
#include "tests/support/test_threads.h"

namespace kymo {
namespace {

using model::ThreadTimes;
using model::Wait;
using model::WaitKind;

// Otherwise a recording has oneTBB's threads, with which an earlier one gave
// names to stacks. They are the program's, too. Where a limit ends, they begin.
[[maybe_unused]] const ParallelismLimit* const one_thread =
    new ParallelismLimit(1);

void SleepMs(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

void Spin(int ms) {
  const int64_t end_ns = MonotonicNs() + ms * kNsPerMs;
  while (MonotonicNs() < end_ns) {
  }
}

// For how long this thread used a CPU, or waited for one.
DurationNs AwakeNs() {
  return ThreadCpuNs() +
         processes::ReadSchedStat(getpid(), gettid())->waited_ns;
}

// A thread that waits from before the recording until its end.
class Waiter {
 public:
  explicit Waiter(const char* name = "waiter")
      : name_(name), thread_([this] { Wait(); }) {
    std::unique_lock lock(mutex_);
    while (tid_ == 0) changed_.wait(lock);
    lock.unlock();
    EXPECT_TRUE(AwaitState(tid_, 'S'));
  }
  ~Waiter() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  pid_t tid() const { return tid_; }

 private:
  void Wait() {
    pthread_setname_np(pthread_self(), name_);
    std::unique_lock lock(mutex_);
    tid_ = gettid();
    changed_.notify_all();
    while (!ends_) changed_.wait(lock);
  }

  const char* const name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  pid_t tid_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

class OwnSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status status = sampling::PerfEvents::ProbeSwitches();
    if (!status.ok()) GTEST_SKIP() << "NOT TESTED HERE: " << status;
    Begin();
  }

  void Begin() {
    shard_ = model::TraceShard();
    session_ = off_cpu::NewOwnSession();
    ASSERT_TRUE(session_->Prepare(nullptr).ok());
    before_start_ns_ = MonotonicNs();
    const absl::Status started = session_->Start(getpid());
    ASSERT_TRUE(started.ok()) << started;
    start_ns_ = MonotonicNs();
  }
  void End() {
    least_wall_ns_ = MonotonicNs() - start_ns_;
    ASSERT_TRUE(session_->Stop().ok());
    most_wall_ns_ = MonotonicNs() - before_start_ns_;
    ASSERT_TRUE(session_->Collect(shard_).ok());
    EXPECT_EQ(session_->Remarks(), std::vector<std::string>());
    EXPECT_EQ(shard_.ledger.Get(model::Loss::kSwitchesLost), 0u);
    EXPECT_EQ(shard_.ledger.Get(model::Loss::kRecordsCorrupt), 0u);
  }

  const ThreadTimes* Find(int64_t tid) const {
    for (const ThreadTimes& times : shard_.thread_states->threads) {
      if (shard_.tracks[times.track].id == tid) return &times;
    }
    return nullptr;
  }
  std::vector<Wait> WaitsOf(int64_t tid) const {
    std::vector<Wait> waits;
    for (const Wait& wait : shard_.thread_states->waits) {
      if (shard_.tracks[wait.track].id == tid) waits.push_back(wait);
    }
    return waits;
  }
  std::vector<std::string> StackOf(const Wait& wait) const {
    std::vector<std::string> names;
    for (const model::FrameId frame : shard_.stacks.Frames(wait.stack)) {
      names.emplace_back(
          shard_.strings.Get(shard_.stacks.frame(frame).function));
    }
    return names;
  }

  std::unique_ptr<ActivitySession> session_;
  model::TraceShard shard_;
  int64_t before_start_ns_ = 0;
  int64_t start_ns_ = 0;
  // Between start and stop, without and with these two.
  int64_t least_wall_ns_ = 0;
  int64_t most_wall_ns_ = 0;
};

TEST_F(OwnSessionTest, ThreadsOfKymoAreNotThePrograms) {
  (void)session_->Stop();
  const Waiter programs;
  const Waiter door(record::kDoorThread);
  const Waiter on_demand(record::kOnDemandThread);
  Begin();
  SleepMs(20);
  End();
  EXPECT_NE(Find(programs.tid()), nullptr);
  EXPECT_THAT(WaitsOf(programs.tid()), ::testing::Not(::testing::IsEmpty()));
  for (const pid_t tid : {door.tid(), on_demand.tid()}) {
    EXPECT_EQ(Find(tid), nullptr);
    EXPECT_THAT(WaitsOf(tid), ::testing::IsEmpty());
  }
}

TEST_F(OwnSessionTest, TheThreadThatRecordsIsTimed) {
  Spin(100);
  const DurationNs awake_before_ns = AwakeNs();
  SleepMs(200);
  // The time of a sleep begins while the thread is on its way to it.
  const DurationNs least_sleep_ns =
      199 * kNsPerMs - (AwakeNs() - awake_before_ns);
  End();
  const ThreadTimes* const times = Find(gettid());
  ASSERT_NE(times, nullptr);
  EXPECT_GE(times->wall_ns, least_wall_ns_);
  EXPECT_LE(times->wall_ns, most_wall_ns_);
  EXPECT_GE(times->blocked_ns() + times->runnable_ns, 200 * kNsPerMs);
  EXPECT_GE(times->on_cpu_ns + times->runnable_ns, 100 * kNsPerMs);
  EXPECT_LE(times->on_cpu_ns, times->wall_ns - least_sleep_ns);
  EXPECT_EQ(times->unknown_ns, 0);
  const std::vector<Wait> waits = WaitsOf(gettid());
  const auto sleep = std::ranges::find(waits, WaitKind::kSleep, &Wait::kind);
  ASSERT_NE(sleep, waits.end());
  EXPECT_GE(sleep->duration_ns, least_sleep_ns);
  const std::vector<std::string> stack = StackOf(*sleep);
  EXPECT_TRUE(std::ranges::any_of(stack, [](const std::string& name) {
    return name.find("SleepMs") != std::string::npos;
  })) << ::testing::PrintToString(stack);
}

// Threads of before the recording, of its time, and of threads of these.
TEST_F(OwnSessionTest, ThreadsThatBeginLaterAreTimed) {
  pid_t tid = 0, inner_tid = 0;
  DurationNs inner_awake_ns = 0;
  std::thread([&] {
    tid = gettid();
    SleepMs(100);
    std::thread([&] {
      inner_tid = gettid();
      EXPECT_TRUE(AwaitState(tid, 'S'));  // it joins this one
      SleepMs(50);
      inner_awake_ns = AwakeNs();
    }).join();
  }).join();
  End();
  ASSERT_NE(Find(tid), nullptr);
  EXPECT_GE(Find(tid)->wall_ns, 150 * kNsPerMs);
  EXPECT_LE(Find(tid)->wall_ns, most_wall_ns_);
  ASSERT_NE(Find(inner_tid), nullptr);
  EXPECT_GE(Find(inner_tid)->blocked_ns(), 49 * kNsPerMs - inner_awake_ns);
  EXPECT_TRUE(std::ranges::any_of(WaitsOf(tid), [](const Wait& wait) {
    return wait.kind == WaitKind::kCondition &&
           wait.duration_ns >= 49 * kNsPerMs;
  }));
}

class OwnSessionWithWaiterTest : public OwnSessionTest {
 protected:
  const Waiter waiter_;  // before the session, which begins in SetUp
};

TEST_F(OwnSessionWithWaiterTest, AWaitThatBeganBeforeIsOpenAtTheEnd) {
  SleepMs(100);
  End();
  const ThreadTimes* const times = Find(waiter_.tid());
  ASSERT_NE(times, nullptr);
  EXPECT_EQ(times->on_cpu_ns, 0);
  EXPECT_EQ(times->open_wait_ns, times->wall_ns);
  EXPECT_GE(times->wall_ns, 100 * kNsPerMs);
  EXPECT_EQ(shard_.strings.Get(shard_.tracks[times->track].name), "waiter");
  const std::vector<Wait> waits = WaitsOf(waiter_.tid());
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_TRUE(waits[0].is_open);
  EXPECT_EQ(waits[0].kind, WaitKind::kCondition);
  EXPECT_EQ(waits[0].duration_ns, times->open_wait_ns);
}

// Neither the thread that reads records, nor children, nor other programs.
TEST_F(OwnSessionWithWaiterTest, OnlyTheProgramsThreadsAreThere) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  End();
  std::vector<int64_t> tids;
  for (const ThreadTimes& times : shard_.thread_states->threads) {
    EXPECT_EQ(shard_.tracks[times.track].pid, getpid());
    tids.push_back(shard_.tracks[times.track].id);
  }
  std::ranges::sort(tids);
  std::vector<int64_t> expected = {gettid(), waiter_.tid()};
  std::ranges::sort(expected);
  EXPECT_EQ(tids, expected);
  EXPECT_EQ(shard_.processes.size(), 1u);
  EXPECT_EQ(shard_.processes[0].pid, getpid());
}

TEST_F(OwnSessionTest, ARecordingAfterAnotherHasOnlyItsOwnTime) {
  SleepMs(100);
  End();
  Begin();
  SleepMs(30);
  End();
  ASSERT_NE(Find(gettid()), nullptr);
  EXPECT_LE(Find(gettid())->wall_ns, most_wall_ns_);
}

// Threads that begin while the recording does have two events each.
TEST_F(OwnSessionTest, ThreadsThatBeginAtTheStartCountOnce) {
  End();
  std::atomic<bool> ends = false;
  std::atomic<int64_t> begun = 0;
  std::thread maker([&] {
    while (!ends) {
      std::thread([&] {
        ++begun;
        Spin(1);
        SleepMs(1);
      }).join();
    }
  });
  Begin();
  const int64_t at_start = begun;
  while (begun < at_start + 20) SleepMs(1);
  ends = true;
  maker.join();
  End();
  for (const ThreadTimes& times : shard_.thread_states->threads) {
    EXPECT_EQ(times.unknown_ns, 0);
    EXPECT_LE(times.on_cpu_ns, times.wall_ns);
  }
}

TEST(OwnSessionLimitsTest, WithoutDescriptorsThereAreTotals) {
  const auto session = off_cpu::NewOwnSession();
  ASSERT_TRUE(session->Prepare(nullptr).ok());
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few = {.rlim_cur = 3, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  const absl::Status started = session->Start(getpid());
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(started.ok()) << started;
  SleepMs(50);
  ASSERT_TRUE(session->Stop().ok());
  model::TraceShard shard;
  ASSERT_TRUE(session->Collect(shard).ok());
  ASSERT_EQ(session->Remarks().size(), 1u);
  EXPECT_TRUE(session->Remarks()[0].starts_with(
      "off_cpu: only the total times of threads were recorded, not their "
      "waits: "))
      << session->Remarks()[0];
  ASSERT_NE(shard.thread_states, nullptr);
  EXPECT_TRUE(shard.thread_states->waits.empty());
}

TEST(OwnSessionBackendTest, RecordsThisProcessOnRequest) {
  const auto backend = NewOffCpuBackend();
  EXPECT_TRUE(backend->Availability({}).ok());
  EXPECT_FALSE(backend->IsWanted({}, {}));
  EXPECT_TRUE(backend->IsWanted({"off_cpu"}, {}));
}

}  // namespace
}  // namespace kymo
