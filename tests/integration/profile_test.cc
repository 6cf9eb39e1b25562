// Sessions of all threads: full arenas, settings, forks and signals.
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/warning.h"
#include "profiler/model/trace.h"
#include "tests/integration/test_profile.h"
#include "tests/integration/test_without_rtti.h"
#include "tests/support/test_signal_storm.h"

namespace kymo {

// What a copy of another version tells (profiler/record/host/copies.cc): its
// version, and then its host, which is null while nobody uses it.
constinit uint64_t copy_of_another_version[2] = {0xffffffff, 0};
asm(R"(
  .pushsection .note.kymo, "a", %note
  .balign 4
  .long 8, 4, 2
  .ascii "Kymo\0\0\0\0"
  .long _ZN4kymo23copy_of_another_versionE - .
  .popsection
)");

namespace {

TEST(ProfileTest, ThreadsComeAndGoAndKeepTheirNames) {
  const auto profile = Record([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([i] {
        SetThreadName("a worker with a rather long name, number " +
                      std::to_string(i));
        for (int j = 0; j < 3000; ++j) RecordFunction range("work");
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(Counts(*profile)["work"], 8 * 3000);
  std::map<std::string_view, int> names;
  for (const model::Track& track : profile->trace()->tracks()) {
    ++names[profile->trace()->Name(track.name)];
  }
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(
        names["a worker with a rather long name, number " + std::to_string(i)],
        1);
  }
}

TEST(ProfileTest, SessionsAreApart) {
  std::unique_ptr<RecordFunction> across;
  auto first = Record([&] {
    RecordFunction a("a");
    across = std::make_unique<RecordFunction>(Literal("open at the stop"));
  });
  { RecordFunction between("between"); }
  auto second = Record([&] {
    across.reset();
    RecordFunction b("b");
  });
  EXPECT_EQ(Counts(*first), (std::map<std::string, int64_t>{
                                {"a", 1}, {"open at the stop", 1}}));
  EXPECT_EQ(first->trace()->ledger().Get(model::Loss::kRangesOpenAtEnd), 1);
  EXPECT_EQ(Counts(*second), (std::map<std::string, int64_t>{{"b", 1}}));
  EXPECT_FALSE(second->trace()->ledger().AnythingLost());
}

TEST(ProfileTest, OneSessionAtATimeAndResultsOnlyAfterStop) {
  Profile first;
  EXPECT_EQ(first.Stop().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(first.trace(), nullptr);
  EXPECT_EQ(first.key_averages().status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(first.events().status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(first.export_chrome_trace("/nowhere/t.json").ok());
  ASSERT_TRUE(first.Start().ok());
  EXPECT_EQ(first.Start().code(), absl::StatusCode::kFailedPrecondition);
  Profile second;
  EXPECT_EQ(second.Start().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(first.Stop().ok());
  ASSERT_TRUE(second.Start().ok());
  EXPECT_TRUE(second.Stop().ok());
}

TEST(ProfileTest, FullArenaDropsCountsAndWarns) {
  constexpr int kRanges = 100'000;
  std::vector<std::string> warnings;
  SetWarningHandler(
      [&](std::string_view text) { warnings.emplace_back(text); });
  const auto profile = Record(
      [] {
        for (int i = 0; i < kRanges; ++i) RecordFunction range("range");
      },
      {.settings = {{"cpu_arena_mib", "1"}, {"cpu_when_full", "stop"}}});
  SetWarningHandler({});
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(warnings[0].starts_with("Lost: ")) << warnings[0];
  EXPECT_NE(warnings[1].find("cpu_arena_mib"), std::string::npos);
  const int64_t kept = Counts(*profile)["range"];
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, kRanges);
  EXPECT_EQ(kept + static_cast<int64_t>(profile->trace()->ledger().Get(
                       model::Loss::kEventsDroppedArenaFull)),
            kRanges);
}

TEST(ProfileTest, ASessionNamesItsProcess) {
  const auto profile = Record([] { RecordFunction range("range"); });
  const model::Trace& trace = *profile->trace();
  ASSERT_EQ(trace.processes().size(), 1u);
  EXPECT_EQ(trace.Name(trace.processes()[0].name),
            std::string(program_invocation_short_name, 0, 15));
}

TEST(ProfileTest, OverwriteKeepsTheNewest) {
  constexpr int kRanges = 100'000;
  const auto profile = Record(
      [] {
        for (int i = 0; i < kRanges / 2; ++i) RecordFunction range("old");
        for (int i = 0; i < kRanges / 2; ++i) RecordFunction range("new");
      },
      {.settings = {{"arena_mib", "1"}, {"when_full", "overwrite"}}});
  auto counts = Counts(*profile);
  EXPECT_EQ(counts["old"], 0);
  const model::LossLedger& ledger = profile->trace()->ledger();
  EXPECT_EQ(counts["new"] + static_cast<int64_t>(
                                ledger.Get(model::Loss::kEventsOverwritten)),
            kRanges);
  EXPECT_FALSE(ledger.AnythingLost()) << "it was asked for";
}

TEST(ProfileTest, RangeThatIsOpenWhenTheArenaFillsStillEnds) {
  const auto profile = Record(
      [] {
        // Begun late enough to share its chunk with the last that is kept.
        for (int i = 0; i < 15 * 2048; ++i) RecordFunction range("range");
        RecordFunction outer("outer");
        for (int i = 0; i < 10'000; ++i) RecordFunction range("range");
      },
      {.settings = {{"cpu_arena_mib", "1"}, {"cpu_when_full", "stop"}}});
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(trace.flags()[Find(trace, "outer")], 0);
}

TEST(ProfileTest, RefusedSessionLeavesTheLiveOneAlone) {
  Profile first;
  ASSERT_TRUE(first.Start().ok());
  for (int i = 0; i < 5000; ++i) RecordFunction range("before");
  Profile second;
  EXPECT_FALSE(second.Start().ok());
  { RecordFunction range("after"); }
  ASSERT_TRUE(first.Stop().ok());
  EXPECT_EQ(Counts(first),
            (std::map<std::string, int64_t>{{"before", 5000}, {"after", 1}}));
}

TEST(ProfileTest, UnknownActivityAndSettingsAreErrorsThatListTheValid) {
  Profile unknown({.activities = {"cpu", "gpu"}});
  const absl::Status status = unknown.Start();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(
                "cpu, cuda, emit_itt, emit_nvtx, host, itt, memory, mpi, nvtx, "
                "off_cpu, sampling"),
            std::string::npos);
  Profile full({.settings = {{"cpu_when_full", "panic"}}});
  EXPECT_EQ(
      full.Start().message(),
      "cpu_when_full is 'panic'; it takes one of: drain, overwrite, stop");
  Profile misspelled({.settings = {{"cpu_when_ful", "stop"}}});
  const absl::Status spelling = misspelled.Start();
  EXPECT_EQ(spelling.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(spelling.message().find("the nearest is 'cpu_when_full'"),
            std::string::npos)
      << spelling;
  EXPECT_NE(spelling.message().find("memory_stacks, mpi_capture, nvtx_capture, "
                                    "sampling_all_processes"),
            std::string::npos)
      << spelling;
}

TEST(ProfileTest, RangesOfAnotherVersionAreSaidToBeMissing) {
  std::vector<std::string> warnings;
  SetWarningHandler(
      [&](std::string_view text) { warnings.emplace_back(text); });
  Record([] {});
  EXPECT_EQ(warnings, std::vector<std::string>());
  Record([] { copy_of_another_version[1] = 1; });
  Record([] {});  // once is enough
  copy_of_another_version[1] = 0;
  SetWarningHandler({});
  EXPECT_EQ(warnings,
            std::vector<std::string>(
                {"A part of this program was built with another version of "
                 "Kymo, so its ranges are not in this session: build both with "
                 "one version"}));
}

TEST(ProfileTest, OldSpellingsOfSettingsSayTheNew) {
  std::vector<std::string> warnings;
  SetWarningHandler(
      [&](std::string_view text) { warnings.emplace_back(text); });
  Profile old({.settings = {{"when_full", "panic"}, {"arena_mib", "1"}}});
  EXPECT_EQ(old.Start().message(),
            "when_full is 'panic'; it takes one of: drain, overwrite, stop");
  EXPECT_EQ(warnings, std::vector<std::string>());
  const auto profile = Record([] {}, {.settings = {{"arena_mib", "1"}}});
  SetWarningHandler({});
  EXPECT_NE(profile->trace(), nullptr);
  EXPECT_EQ(warnings,
            std::vector<std::string>({"arena_mib is now cpu_arena_mib"}));
}

TEST(ProfileTest, ForkedChildOfASessionIsNotInItAndGoesOn) {
  const auto profile = Record([] {
    RecordFunction around("around fork");
    const pid_t pid = fork();
    if (pid == 0) {
      // The parent's open range and session mean nothing here; a session of
      // one's own does.
      for (int i = 0; i < 5000; ++i) RecordFunction child("child");
      Profile own({.experimental_config = {.profile_all_threads = true}});
      const bool ok = own.Start().ok();
      { RecordFunction range("in the child's session"); }
      _exit(ok && own.Stop().ok() && own.trace()->event_count() == 1 ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  });
  EXPECT_EQ(Counts(*profile),
            (std::map<std::string, int64_t>{{"around fork", 1}}));
}

TEST(ProfileTest, AForkedChildCannotStopItsParentsSession) {
  Profile profile({.experimental_config = {.profile_all_threads = true}});
  ASSERT_TRUE(profile.Start().ok());
  const pid_t pid = fork();
  if (pid == 0) {
    const absl::Status status = profile.Stop();
    const bool is_told =
        status.code() == absl::StatusCode::kFailedPrecondition &&
        status.message().find("which forked this one") != std::string::npos;
    _exit(is_told ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  { RecordFunction range("after the fork"); }
  EXPECT_TRUE(profile.Stop().ok());
  EXPECT_EQ(Counts(profile)["after the fork"], 1);
}

std::atomic<int> handled = 0;
void HandlerWithRanges(int) {
  RecordFunction range("in handler");
  ++handled;
}

TEST(ProfileTest, RangesInSignalHandlersNeverHurtTheThread) {
  handled = 0;
  constexpr int kRanges = 300'000;
  const auto profile = Record([] {
    const SignalStorm storm(HandlerWithRanges);
    for (int i = 0; i < kRanges; ++i) RecordFunction range("in thread");
  });
  auto counts = Counts(*profile);
  const int64_t dropped =
      profile->trace()->ledger().Get(model::Loss::kEventsDroppedInHandlers);
  EXPECT_EQ(counts["in thread"] + counts["in handler"] + dropped,
            kRanges + handled);
  EXPECT_EQ(counts["in thread"], kRanges);
}

TEST(ProfileTest, StartStopStormWhileThreadsRecord) {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        RecordFunction range("storm", {{"i", 1}});
        std::thread([] { RecordFunction brief("brief"); }).join();
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    const auto profile = Record([] {
      RecordFunction range("main");
      usleep(500);
    });
    EXPECT_EQ(Counts(*profile)["main"], 1);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

// A session starts while the one before it still makes its results.
TEST(ProfileTest, SessionsThatFollowEachOtherHaveAllTheirRanges) {
  std::atomic<int> recorded = 0;
  const auto start_and_stop = [&recorded] {
    for (int i = 0; i < 40;) {
      Profile profile({.experimental_config = {.profile_all_threads = true}});
      const absl::Status started = profile.Start();
      { RecordFunction range("followed"); }
      if (absl::IsFailedPrecondition(started)) {
        usleep(100);  // another thread's session records
        continue;
      }
      ASSERT_TRUE(started.ok()) << started;
      ++i;
      ASSERT_TRUE(profile.Stop().ok());
      EXPECT_GE(Counts(profile)["followed"], 1);
      ++recorded;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(start_and_stop);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorded, 3 * 40);
}

TEST(ProfileTest, ProgramsNeedNeitherExceptionsNorTypeInformation) {
  EXPECT_EQ(EventsRecordedWithoutRtti(), 1);
}

}  // namespace
}  // namespace kymo
