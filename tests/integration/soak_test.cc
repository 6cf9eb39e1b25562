// Sessions by the ten thousand: what one leaves behind adds up.
#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "tests/support/test_threads.h"

namespace kymo {
namespace {

constexpr int kSessions = 10'000;

size_t ResidentBytes() {
  FILE* const file = fopen("/proc/self/statm", "r");
  size_t total = 0;
  size_t resident = 0;
  if (fscanf(file, "%zu %zu", &total, &resident) != 2) resident = 0;
  fclose(file);
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

size_t CountEntries(const char* folder) {
  size_t count = 0;
  DIR* const dir = opendir(folder);
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count;
}

void RunSession(const ProfileOptions& options) {
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  for (int i = 0; i < 10; ++i) {
    RecordFunction range("operation", {{"index", i}});
  }
  ASSERT_TRUE(profile.Stop().ok());
  ASSERT_EQ(profile.trace()->event_count(), 10);
}

// Bytes that malloc has handed out, in all its arenas. Zero where a sanitizer
// is the allocator.
size_t AllocatedBytes() { return mallinfo2().uordblks; }

// How much free memory an allocator keeps for each thread that helps depends
// on how the threads fell together: it comes to rest, a leak never does.
template <typename Work>
void ExpectGrowthStops(size_t most_bytes, Work work) {
  constexpr int kMostRounds = 8;
  size_t grown = SIZE_MAX;
  for (int round = 0; round < kMostRounds && grown > most_bytes; ++round) {
    const size_t before = ResidentBytes();
    work();
    const size_t after = ResidentBytes();
    grown = after > before ? after - before : 0;
  }
  EXPECT_LE(grown, most_bytes);
}

void ExpectNothingLeft(const ProfileOptions& options, int sessions) {
  // The first sessions allocate what later ones use again.
  for (int i = 0; i < std::max(sessions / 10, 200); ++i) RunSession(options);
  const size_t allocated = AllocatedBytes();
  const size_t descriptors = CountEntries("/proc/self/fd");
  const size_t threads = CountThreads();
  ExpectGrowthStops(1 << 20, [&] {
    for (int i = 0; i < sessions; ++i) RunSession(options);
  });
  EXPECT_LE(AllocatedBytes(), allocated + (64 << 10));
  EXPECT_EQ(CountEntries("/proc/self/fd"), descriptors);
  EXPECT_EQ(CountThreads(), threads);
}

TEST(SoakTest, SessionsLeaveNoMemoryAndNoDescriptor) {
  ProfileOptions options;
  options.activities = {"cpu"};
  ExpectNothingLeft(options, kSessions);
}

TEST(SoakTest, NeitherDoSessionsWithAllThatTheyCanKeep) {
  ProfileOptions options;
  options.record_shapes = true;
  options.with_stack = true;
  options.with_modules = true;
  options.profile_memory = true;
  ExpectNothingLeft(options, kSessions / 100);
}

// A thread leaves its line in the tables of threads (96 bytes), however often
// sessions come and go: all else that it took is the next one's.
TEST(SoakTest, NeitherDoThreadsThatComeAndGo) {
  ProfileOptions options;
  options.activities = {"cpu"};
  options.experimental_config.profile_all_threads = true;
  constexpr int kRounds = 1'000;
  constexpr int kThreads = 8;
  const auto run = [&] {
    Profile profile(options);
    ASSERT_TRUE(profile.Start().ok());
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([] { RecordFunction range("operation"); });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(profile.Stop().ok());
    ASSERT_EQ(profile.trace()->event_count(), kThreads);
  };
  for (int i = 0; i < kRounds / 5; ++i) run();
  const size_t allocated = AllocatedBytes();
  const size_t threads = CountThreads();
  const size_t lines = kRounds * kThreads * 96;
  ExpectGrowthStops(lines + (1 << 20), [&] {
    for (int i = 0; i < kRounds; ++i) run();
  });
  EXPECT_LE(AllocatedBytes(), allocated + (64 << 10));
  EXPECT_EQ(CountThreads(), threads);
}

// An hour of a program that makes ten steps a second, as fast as it goes.
TEST(SoakTest, AnHourOfScheduledRecordingStaysAsItWas) {
  constexpr int kStepsASecond = 10;
  constexpr int kSteps = 60 * 60 * kStepsASecond;
  constexpr int kCycle = 5;
  int64_t cycles = 0;
  int64_t events = 0;
  bool lost = false;
  ProfileOptions options;
  options.activities = {"cpu"};
  options.schedule = *MakeSchedule({.wait = 1, .warmup = 1, .active = 3});
  options.on_trace_ready = [&](Profile& p) {
    ++cycles;
    events += static_cast<int64_t>(p.trace()->event_count());
    lost = lost || p.trace()->ledger().AnythingLost();
    return absl::OkStatus();
  };
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  int64_t steps = 0;
  const auto step = [&] {
    ++steps;
    {
      RecordFunction forward("forward");
      RecordFunction layer(std::string("layer of step"));
    }
    { RecordFunction backward("backward", {{"step", profile.step_num()}}); }
    ASSERT_TRUE(profile.Step().ok());
  };
  for (int i = 0; i < kSteps / 60; ++i) step();
  const size_t allocated = AllocatedBytes();
  const size_t descriptors = CountEntries("/proc/self/fd");
  while (steps < kSteps / 2) step();
  ExpectGrowthStops(1 << 20, [&] {
    for (int i = 0; i < kSteps / 2; ++i) step();
  });
  EXPECT_LE(AllocatedBytes(), allocated + (64 << 10));
  EXPECT_EQ(CountEntries("/proc/self/fd"), descriptors);
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(cycles, steps / kCycle);
  // Three active steps, each with its own range and three of ours.
  EXPECT_EQ(events, cycles * 3 * 4);
  EXPECT_FALSE(lost);
}

}  // namespace
}  // namespace kymo
