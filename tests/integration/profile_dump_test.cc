// A session of a program writes what it has while the program runs.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "kymo/load_trace.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace.h"

namespace kymo {
namespace {

constexpr int64_t kRangesPerMib = (1 << 20) / 32;

// Keeps the newest MiB, of the thread that starts it or of all.
ProfileOptions Newest(int mib, bool all_threads) {
  ProfileOptions options;
  options.experimental_config.profile_all_threads = all_threads;
  options.settings = {{"cpu_when_full", "overwrite"},
                      {"cpu_arena_mib", std::to_string(mib)}};
  return options;
}

class ProfileDumpTest : public testing::Test {
 protected:
  // Reads the dump; names with their counts.
  std::map<std::string, int64_t> Dump(Profile& profile) {
    const absl::Status dumped = profile.Dump(path_);
    EXPECT_TRUE(dumped.ok()) << dumped;
    auto saved = LoadTrace({path_});
    EXPECT_TRUE(saved.ok()) << saved.status();
    std::map<std::string, int64_t> counts;
    if (!saved.ok()) return counts;
    EXPECT_TRUE(saved->files[0].findings.empty());
    const KeyAverages averages = saved->profile->key_averages();
    for (const auto& row : averages) counts[row.key] = row.count;
    ledger_ = saved->profile->trace().ledger();
    EXPECT_FALSE(ledger_.AnythingLost());
    return counts;
  }
  int64_t overwritten() const {
    return static_cast<int64_t>(ledger_.Get(model::Loss::kEventsOverwritten));
  }

  const std::string path_ = testing::TempDir() + "/session.raw";
  model::LossLedger ledger_;
};

TEST_F(ProfileDumpTest, HasTheNewestWhileThreadsRecordAtFullSpeed) {
  Profile profile(Newest(4, /*all_threads=*/true));
  ASSERT_TRUE(profile.Start().ok());
  std::atomic<bool> over = false;
  std::atomic<int64_t> finished[2] = {};
  std::vector<std::thread> threads;
  for (std::atomic<int64_t>& count : finished) {
    threads.emplace_back([&] {
      while (!over) {
        for (int i = 0; i < 100; ++i) RecordFunction range("work");
        count.fetch_add(100);
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    while (finished[0] + finished[1] < (round + 1) * 10 * kRangesPerMib) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const int64_t before = finished[0] + finished[1];
    const int64_t shown = Dump(profile)["work"];
    EXPECT_GT(shown, kRangesPerMib);
    EXPECT_LE(shown, 4 * kRangesPerMib);
    // The test does not see chunks that change hands between its two looks.
    // These are all chunks at most.
    EXPECT_GT(shown + overwritten(), before - 4 * kRangesPerMib);
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(profile.Stop().ok());
  EXPECT_GT(profile.trace()->event_count(), kRangesPerMib);
}

TEST_F(ProfileDumpTest, HasWhatItsSessionHasAndNothingElse) {
  Profile profile(Newest(4, /*all_threads=*/false));
  { RecordFunction range("before"); }
  ASSERT_TRUE(profile.Start().ok());
  { RecordFunction range("own"); }
  std::thread([] {
    Profile other(Newest(4, /*all_threads=*/false));
    ASSERT_TRUE(other.Start().ok());
    { RecordFunction range("another's"); }
    ASSERT_TRUE(other.Stop().ok());
  }).join();
  { RecordFunction range("own"); }
  EXPECT_EQ(Dump(profile), (std::map<std::string, int64_t>{{"own", 2}}));
  EXPECT_TRUE(profile.Stop().ok());
}

TEST_F(ProfileDumpTest, WhatEarlierSessionsOverwroteIsNotOfThisOne) {
  for (const int count : {100'000, 10}) {
    Profile profile(Newest(1, /*all_threads=*/true));
    ASSERT_TRUE(profile.Start().ok());
    for (int i = 0; i < count; ++i) RecordFunction range("work");
    const int64_t shown = Dump(profile)["work"];
    EXPECT_EQ(shown + overwritten(), count);
    EXPECT_TRUE(profile.Stop().ok());
  }
  EXPECT_EQ(overwritten(), 0);
}

// Its chunks are the oldest ones, which the other session takes.
TEST_F(ProfileDumpTest, AnotherSessionOverwritesWhileThisOneEnds) {
  for (int round = 0; round < 10; ++round) {
    Profile profile(Newest(16, /*all_threads=*/false));
    ASSERT_TRUE(profile.Start().ok());
    for (int64_t i = 0; i < 17 * kRangesPerMib; ++i) RecordFunction own("own");
    std::atomic<int64_t> others = 0;
    std::atomic<bool> over = false;
    std::thread thread([&] {
      Profile other(Newest(16, /*all_threads=*/false));
      ASSERT_TRUE(other.Start().ok());
      while (!over) {
        RecordFunction range("another's");
        ++others;
      }
    });
    while (others < kRangesPerMib) std::this_thread::yield();
    EXPECT_TRUE(profile.Stop().ok());
    over = true;
    thread.join();
    EXPECT_EQ(profile.trace()->ledger().Get(model::Loss::kRecordsCorrupt), 0u);
    const KeyAverages averages = profile.key_averages();
    for (const auto& row : averages) EXPECT_EQ(row.key, "own");
  }
}

TEST_F(ProfileDumpTest, OnlyASessionThatKeepsTheNewestHasDumps) {
  Profile profile;
  EXPECT_EQ(profile.Dump(path_).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(profile.Start().ok());
  const absl::Status status = profile.Dump(path_);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(std::string(status.message()).find("when_full=overwrite"),
            std::string::npos);
  EXPECT_TRUE(profile.Stop().ok());
}

TEST_F(ProfileDumpTest, AFileThatCannotBeWrittenIsSaidWithItsPath) {
  Profile profile(Newest(1, /*all_threads=*/true));
  ASSERT_TRUE(profile.Start().ok());
  const absl::Status status = profile.Dump("/nowhere/dump.raw");
  EXPECT_NE(std::string(status.message()).find("/nowhere/dump.raw"),
            std::string::npos);
  EXPECT_TRUE(profile.Stop().ok());
}

}  // namespace
}  // namespace kymo
