// Forces losses that are hard to cause: each is counted, and the rest is there.
#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "profiler/base/clock.h"
#include "profiler/model/trace.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/host/host.h"
#include "tests/support/test_signal_storm.h"

namespace kymo {
namespace {

using model::Loss;

// A session of all threads around `work`.
template <typename Work>
std::unique_ptr<Profile> Record(Work work) {
  ProfileOptions options;
  options.activities = {"cpu"};
  options.experimental_config.profile_all_threads = true;
  auto profile = std::make_unique<Profile>(std::move(options));
  EXPECT_TRUE(profile->Start().ok());
  work();
  EXPECT_TRUE(profile->Stop().ok());
  return profile;
}

int64_t CountOf(const Profile& profile, std::string_view name) {
  const model::Trace& trace = *profile.trace();
  int64_t count = 0;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    count += trace.EventName(i) == name;
  }
  return count;
}

uint64_t Lost(const Profile& profile, Loss loss) {
  return profile.trace()->ledger().Get(loss);
}

struct LongText {
  char text[record::kMaxNameBytes + 100] = {};
  constexpr LongText() {
    for (char& c : text) c = 'x';
    text[sizeof(text) - 1] = '\0';
  }
};
constexpr LongText kLongText;

TEST(ForcedLossesTest, NamesLongerThanTheLimit) {
  const auto profile = Record([] { RecordFunction range(kLongText.text); });
  EXPECT_EQ(Lost(*profile, Loss::kArgumentsTruncated), 1);
  EXPECT_EQ(CountOf(*profile, std::string(record::kMaxNameBytes, 'x')), 1);
}

TEST(ForcedLossesTest, NamesOfInstantsLongerThanARecord) {
  // A range's name goes on in further records; an instant has only one.
  const std::string name(size_t{1} << 20, 'x');
  const auto profile = Record([&] { Instant(name); });
  EXPECT_EQ(Lost(*profile, Loss::kArgumentsTruncated), 1);
  const model::Trace& trace = *profile->trace();
  ASSERT_EQ(trace.event_count(), 1);
  EXPECT_EQ(trace.EventName(0), name.substr(0, trace.EventName(0).size()));
  EXPECT_GT(trace.EventName(0).size(), 1000);
}

void HandlerWithRange(int) { RecordFunction range("in handler"); }

TEST(ForcedLossesTest, HandlersThatMeetTheSlowPath) {
  const auto profile = Record([] {
    { RecordFunction range("before"); }
    const record::ArenaHeader& header = record::ProcessArena()->header();
    const int64_t end_ns = MonotonicNs() + 30'000'000'000;
    {
      const SignalStorm storm(HandlerWithRange);
      while (header.dropped_in_handlers.load() == 0 && MonotonicNs() < end_ns) {
        record::SetThreadPaused(true);
        record::SetThreadPaused(false);
      }
    }
    RecordFunction range("after");
  });
  EXPECT_GT(Lost(*profile, Loss::kEventsDroppedInHandlers), 0);
  EXPECT_EQ(CountOf(*profile, "before"), 1);
  EXPECT_EQ(CountOf(*profile, "after"), 1);
}

// The remaining tests fill tables of the process for ever, so they come last.

TEST(ForcedLossesTest, MoreThreadsThanStreams) {
  const auto profile = Record([] {
    { RecordFunction range("has a stream"); }
    const record::Arena& arena = *record::ProcessArena();
    while (arena.AddStream(getpid(), 1) != record::Arena::kNoStream) {
    }
    std::thread([] {
      for (int i = 0; i < 10; ++i) RecordFunction range("has none");
    }).join();
    RecordFunction range("has a stream");
  });
  EXPECT_EQ(Lost(*profile, Loss::kEventsDroppedNoStream), 10);
  EXPECT_EQ(CountOf(*profile, "has none"), 0);
  EXPECT_EQ(CountOf(*profile, "has a stream"), 2);
}

TEST(ForcedLossesTest, MoreNamesThanTheTableHolds) {
  const auto profile = Record([] {
    { RecordFunction range("known name"); }
    const record::Arena& arena = *record::ProcessArena();
    std::string text(record::kMaxNameBytes, 'n');
    for (int i = 0; arena.InternName(text) != record::kNameLost; ++i) {
      text.replace(0, 8, std::to_string(10'000'000 + i));
    }
    // The room that is left is too small for one of these, but not for small
    // ones.
    for (int i = 0; arena.InternName(std::to_string(i)) != record::kNameLost;
         ++i) {
    }
    { RecordFunction range("new name"); }
    RecordFunction range("known name");
  });
  // The two names of this test, and the new one.
  EXPECT_EQ(Lost(*profile, Loss::kNamesDroppedTableFull), 3);
  EXPECT_EQ(CountOf(*profile, "known name"), 2);
  EXPECT_EQ(CountOf(*profile, "(name lost)"), 1);
}

}  // namespace
}  // namespace kymo
