// From annotations to the trace, within one process.
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/warning.h"
#include "profiler/model/trace.h"
#include "tests/support/test_signal_storm.h"

namespace kymo {
namespace {

// What one session of all threads recorded of `work`.
template <typename Work>
std::unique_ptr<Profile> Record(Work work, ProfileOptions options = {}) {
  options.experimental_config.profile_all_threads = true;
  auto profile = std::make_unique<Profile>(std::move(options));
  EXPECT_TRUE(profile->Start().ok());
  work();
  const absl::Status status = profile->Stop();
  EXPECT_TRUE(status.ok()) << status;
  const absl::Status valid = model::ValidateTrace(*profile->trace());
  EXPECT_TRUE(valid.ok()) << valid;
  return profile;
}

std::map<std::string, int64_t> Counts(Profile& profile) {
  std::map<std::string, int64_t> counts;
  const KeyAverages averages = profile.key_averages();
  for (const auto& row : averages) counts[row.key] = row.count;
  return counts;
}

// Index of the first event of that name.
model::EventIndex Find(const model::Trace& trace, std::string_view name) {
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.EventName(i) == name) return i;
  }
  ADD_FAILURE() << "no event named " << name;
  return 0;
}

std::string_view ParentName(const model::Trace& trace, std::string_view name) {
  const model::EventIndex parent = trace.parent()[Find(trace, name)];
  return parent == model::kNoEvent ? "" : trace.EventName(parent);
}

TEST(ProfileTest, RecordsNestedRangesWithArguments) {
  const auto profile = Record([] {
    RecordFunction outer("outer", {{"rows", 64}, {"rate", 0.5}});
    {
      RecordFunction inner(std::string("dynamic inner"),
                           {{"kind", "relu"}, {"negative", -3}});
      Instant("mark", {{"at", 1u}});
    }
    Counter("loss", 0.25);
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(ParentName(trace, "dynamic inner"), "outer");
  EXPECT_EQ(ParentName(trace, "mark"), "dynamic inner");
  const auto outer = trace.args(Find(trace, "outer"));
  ASSERT_EQ(outer.size(), 2);
  EXPECT_EQ(trace.Name(outer[0].key), "rows");
  EXPECT_EQ(outer[0].int_value(), 64);
  EXPECT_EQ(outer[1].double_value(), 0.5);
  const auto inner = trace.args(Find(trace, "dynamic inner"));
  ASSERT_EQ(inner.size(), 2);
  EXPECT_EQ(trace.Name(inner[0].string_value()), "relu");
  EXPECT_EQ(inner[1].int_value(), -3);
  ASSERT_EQ(trace.counters().size(), 1);
  EXPECT_EQ(trace.counters()[0].value, 0.25);
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

TEST(ProfileTest, SelfTimesSumToWhatTopLevelRangesCover) {
  const auto profile = Record([] {
    for (int i = 0; i < 100; ++i) {
      RecordFunction top("top");
      for (int j = 0; j < 50; ++j) {
        RecordFunction middle("middle");
        RecordFunction leaf("leaf");
      }
    }
  });
  const model::Trace& trace = *profile->trace();
  DurationNs covered = 0;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.parent()[i] == model::kNoEvent) {
      covered += trace.end()[i] - trace.start()[i];
    }
  }
  EXPECT_NEAR(profile->key_averages().self_cpu_time_total(),
              static_cast<double>(covered) / 1000,
              1e-6 * static_cast<double>(covered) / 1000);
  EXPECT_EQ(Counts(*profile),
            (std::map<std::string, int64_t>{
                {"top", 100}, {"middle", 5000}, {"leaf", 5000}}));
}

TEST(ProfileTest, ManyChunksKeepEveryRangeAndItsParent) {
  constexpr int kInner = 100'000;
  const auto profile = Record([] {
    RecordFunction outer("outer");
    for (int i = 0; i < kInner; ++i) RecordFunction inner("inner");
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(trace.event_count(), kInner + 1);
  const model::EventIndex outer = Find(trace, "outer");
  EXPECT_EQ(trace.flags()[outer], 0);  // ended, though its chunk was long gone
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (i == outer) continue;
    EXPECT_EQ(trace.parent()[i], outer);
  }
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

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

TEST(ProfileTest, LongNamesAndArgumentsAreKeptWhole) {
  const std::string name(100'000, 'n');
  const std::string value(70'000, 'v');
  const auto profile = Record([&] {
    RecordFunction range(name, {{"text", value}, {"after", 1}});
    range.AddArg("more", value);
  });
  const model::Trace& trace = *profile->trace();
  ASSERT_EQ(trace.event_count(), 1);
  EXPECT_EQ(trace.EventName(0), name);
  const auto args = trace.args(0);
  ASSERT_EQ(args.size(), 3);
  EXPECT_EQ(trace.Name(args[0].string_value()), value);
  EXPECT_EQ(args[1].int_value(), 1);
  EXPECT_EQ(trace.Name(args[2].string_value()), value);
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

TEST(ProfileTest, FullArenaDropsAndCounts) {
  constexpr int kRanges = 100'000;
  const auto profile = Record(
      [] {
        for (int i = 0; i < kRanges; ++i) RecordFunction range("range");
      },
      {.settings = {{"cpu_arena_mib", "1"}, {"cpu_when_full", "stop"}}});
  const int64_t kept = Counts(*profile)["range"];
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, kRanges);
  EXPECT_EQ(kept + static_cast<int64_t>(profile->trace()->ledger().Get(
                       model::Loss::kEventsDroppedArenaFull)),
            kRanges);
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

TEST(ProfileTest, LongTextsArriveInLinearTime) {
  const std::string value(16 << 20, 'v');
  const auto profile = Record([&] {
    RecordFunction range("range");
    range.AddArg("text", value);
  });
  const auto args = profile->trace()->args(0);
  ASSERT_EQ(args.size(), 1u);
  EXPECT_EQ(profile->trace()->Name(args[0].string_value()).size(),
            value.size());
}

TEST(ProfileTest, UnknownActivityAndSettingsAreErrorsThatListTheValid) {
  Profile unknown({.activities = {"cpu", "gpu"}});
  const absl::Status status = unknown.Start();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("cpu, cuda, itt, nvtx, sampling"),
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
  EXPECT_NE(spelling.message().find("memory_mode, nvtx_capture, sampling_hz"),
            std::string::npos)
      << spelling;
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

TEST(ProfileTest, RangeThatEndsOnAnotherThreadIsAsynchronous) {
  const auto profile = Record([] {
    RecordFunction around("around");
    auto handed_over = std::make_unique<RecordFunction>(Literal("handed over"));
    RecordFunction inside("inside");
    std::thread([&] {
      RecordFunction on_worker("on worker");
      handed_over.reset();
    }).join();
  });
  const model::Trace& trace = *profile->trace();
  const model::EventIndex async = Find(trace, "handed over");
  EXPECT_EQ(trace.flags()[async], model::kEventAsync);
  EXPECT_EQ(trace.parent()[async], model::kNoEvent);
  EXPECT_EQ(ParentName(trace, "inside"), "around");
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

TEST(ProfileTest, RangesThatEndInTheWrongOrderAreShownBesideEachOther) {
  const auto profile = Record([] {
    auto first = std::make_unique<RecordFunction>(Literal("first"));
    usleep(100);
    auto second = std::make_unique<RecordFunction>(Literal("second"));
    usleep(100);
    first.reset();
    usleep(100);
    second.reset();
    RecordFunction after("after");
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(trace.ledger().Get(model::Loss::kRangesOverlapping), 1);
  EXPECT_EQ(ParentName(trace, "second"), "");
  EXPECT_EQ(ParentName(trace, "after"), "");
}

TEST(ProfileTest, LongjmpThroughARangeHealsAtTheNextEnd) {
  const auto profile = Record([] {
    RecordFunction outer("outer");
    {
      RecordFunction middle("middle");
      jmp_buf target;
      if (setjmp(target) == 0) {
        alignas(RecordFunction) unsigned char memory[sizeof(RecordFunction)];
        new (memory) RecordFunction("abandoned");
        longjmp(target, 1);
      }
    }
    RecordFunction after("after");
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_TRUE(trace.flags()[Find(trace, "abandoned")] & model::kEventOpen);
  EXPECT_EQ(ParentName(trace, "abandoned"), "middle");
  EXPECT_EQ(ParentName(trace, "after"), "outer");
}

TEST(ProfileTest, DeepNestingIsLinear) {
  constexpr int kDepth = 100'000;
  const auto profile = Record([] {
    std::vector<std::unique_ptr<RecordFunction>> open;
    for (int i = 0; i < kDepth; ++i) {
      open.push_back(std::make_unique<RecordFunction>(Literal("nested")));
    }
    while (!open.empty()) open.pop_back();
  });
  const model::Trace& trace = *profile->trace();
  ASSERT_EQ(trace.event_count(), kDepth);
  for (model::EventIndex i = 1; i < kDepth; ++i) {
    ASSERT_EQ(trace.parent()[i], i - 1);
  }
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

TEST(ProfileTest, WrappedCallableIsARangeAndPassesEverythingThrough) {
  const auto profile = Record([] {
    auto add = Recorded("add", [](int a, int b) { return a + b; });
    EXPECT_EQ(add(2, 3), 5);
    EXPECT_EQ(add(4, 5), 9);
  });
  EXPECT_EQ(Counts(*profile)["add"], 2);
}

}  // namespace
}  // namespace kymo
