// The tests of a backend while it records.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/base/clock.h"
#include "profiler/normalize/normalize.h"
#include "profiler/plugin/test_backend_conformance.h"
#include "profiler/plugin/test_conformance_steps.h"

namespace kymo {
namespace {

using model::TraceShard;

TimeNs Now() { return MonotonicNs() + EpochOffsetNs(); }

uint64_t LossCount(const TraceShard& shard) {
  uint64_t count = 0;
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    count += shard.ledger.Get(static_cast<model::Loss>(i));
  }
  return count;
}

// Threads that record until it is destroyed.
class RecordingThreads {
 public:
  RecordingThreads(const std::function<void()>& record, int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, record] {
        while (!is_over_) {
          for (int j = 0; j < 100; ++j) record();
          // Where there are fewer processors than threads, others must run.
          std::this_thread::yield();
        }
      });
    }
  }
  ~RecordingThreads() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  RecordingThreads(const RecordingThreads&) = delete;
  RecordingThreads& operator=(const RecordingThreads&) = delete;

 private:
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_P(SessionConformance, CanBeStoppedWhileThreadsRecord) {
  if (!is_local() || !GetParam().record) {
    GTEST_SKIP() << "needs `record` in this process";
  }
  ExpectThatItWorks();
  const RecordingThreads threads(GetParam().record, 3);
  std::mt19937 random(7);
  Repeat(200, GetParam().time_per_test, "sessions of busy threads", [&] {
    auto session = NewSession();
    ASSERT_NE(session, nullptr);
    // Some end early, so that threads record into what is destroyed.
    const int last = kLive + static_cast<int>(random() % 3);
    for (int state = kMade; state < last;) {
      ASSERT_TRUE(Advance(*session, &state));
      if (state == kLive) usleep(random() % 1000);
    }
  });
}

TEST_P(SessionConformance, AForkDisturbsNeitherParentNorChild) {
  for (const bool destroys : {false, true}) {
    // The command forks the target, which then destroys nothing.
    if (destroys && !is_local()) break;
    auto session = NewLiveSession();
    ASSERT_NE(session, nullptr);
    Record();
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a child that waits for ever ends with a signal
      for (int i = 0; i < 100; ++i) Record();
      if (destroys) session.reset();
      _exit(0);
    }
    ASSERT_GT(child, 0);
    int wait_status = 0;
    ASSERT_EQ(waitpid(child, &wait_status, 0), child);
    EXPECT_TRUE(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
        << "the child ended with wait status " << wait_status
        << (destroys ? " when it destroyed the session" : "");
    Record();
    EXPECT_TRUE(session->Poll().ok());
    const absl::Status stopped = session->Stop();
    ASSERT_TRUE(stopped.ok()) << stopped;
    TraceShard shard;
    const absl::Status collected = session->Collect(shard).status();
    ASSERT_TRUE(collected.ok()) << collected;
    if (!is_recorded()) continue;
    EXPECT_GE(RecordCount(shard), 2u) << "before and after the fork";
    if (GetParam().follows_children) continue;
    for (const model::Track& track : shard.tracks) {
      EXPECT_NE(track.pid, child) << "is not a thread of this process";
    }
  }
  ExpectThatItWorks();
}

TEST_P(SessionConformance, ASecondSessionWorksOrIsRefused) {
  const auto first = NewLiveSession();
  ASSERT_NE(first, nullptr);
  auto second = NewSession();
  ASSERT_NE(second, nullptr);
  TargetSetup setup;
  absl::Status started = second->Prepare(is_local() ? nullptr : &setup);
  if (started.ok()) started = second->Start(target_);
  Record();
  std::vector<BackendController*> live = {first.get()};
  if (started.ok()) {
    live.push_back(second.get());
  } else {
    ExpectWords(started);
    EXPECT_TRUE(absl::IsFailedPrecondition(started) ||
                absl::IsResourceExhausted(started) ||
                absl::IsUnavailable(started) || absl::IsAlreadyExists(started))
        << started;
    second.reset();
  }
  Record();
  for (BackendController* const session : live) {
    const absl::Status stopped = session->Stop();
    ASSERT_TRUE(stopped.ok()) << stopped;
    TraceShard shard;
    const absl::Status collected = session->Collect(shard).status();
    ASSERT_TRUE(collected.ok()) << collected;
    if (is_recorded()) {
      EXPECT_GE(RecordCount(shard), session == first.get() ? 2u : 1u);
    }
  }
  ExpectThatItWorks();
}

TEST_P(SessionConformance, WhatAFullBufferCannotTakeIsCounted) {
  if (!is_recorded() || GetParam().small_buffers.empty()) {
    GTEST_SKIP() << "needs `record` in this process and `small_buffers`";
  }
  const auto session = NewLiveSession(GetParam().small_buffers);
  ASSERT_NE(session, nullptr);
  for (int64_t i = 0; i < GetParam().overflow_calls; ++i) Record();
  ASSERT_TRUE(session->Stop().ok());
  TraceShard shard;
  const absl::Status collected = session->Collect(shard).status();
  ASSERT_TRUE(collected.ok()) << collected;
  const auto calls = static_cast<uint64_t>(GetParam().overflow_calls);
  EXPECT_GE(RecordCount(shard), 1u);
  EXPECT_GE(LossCount(shard), 1u)
      << RecordCount(shard) << " records of " << calls
      << " calls: the buffer was not full, or the loss is not counted";
  EXPECT_GE(RecordCount(shard) + LossCount(shard), calls)
      << RecordCount(shard) << " records and " << LossCount(shard) << " lost";
  ExpectThatItWorks();
}

TEST_P(SessionConformance, AllTimesAreInsideOfTheSession) {
  for (int round = 0; round < 5; ++round) {
    const auto session = NewSession();
    ASSERT_NE(session, nullptr);
    int state = kMade;
    ASSERT_TRUE(Advance(*session, &state));
    Record();
    const TimeNs start_ns = Now();
    ASSERT_TRUE(Advance(*session, &state));
    for (int i = 0; i < 20; ++i) {
      Record();
      if (!is_local()) usleep(2000);
      ASSERT_TRUE(session->Poll().ok());
    }
    ASSERT_TRUE(Advance(*session, &state));
    const TimeNs end_ns = Now();
    Record();
    std::vector<TraceShard> shards(1);
    const auto collected = session->Collect(shards[0]);
    ASSERT_TRUE(collected.ok()) << collected.status();
    ASSERT_FALSE(collected->kept.has_value());
    if (is_recorded()) {
      EXPECT_GE(RecordCount(shards[0]), 20u);
    }
    EXPECT_EQ(model::RecordsOutside(shards[0], start_ns, end_ns), 0u);
    const auto trace =
        Normalize(std::move(shards), {.start_ns = start_ns, .end_ns = end_ns});
    ASSERT_TRUE(trace.ok()) << trace.status();
    const absl::Status valid = model::ValidateTrace(*trace);
    EXPECT_TRUE(valid.ok()) << valid;
    EXPECT_EQ(trace->ledger().Get(model::Loss::kImpossibleTimestamps), 0u);
    for (const TimeNs end : trace->end()) EXPECT_LE(end, end_ns);
  }
}

}  // namespace kymo
