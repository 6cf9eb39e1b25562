// What is delivered of a recording whose oldest records were added up.

#include "tools/profile_command/deliver.h"

#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

TEST(AboutNewestTest, SaysWhenThereWereTooManyStacks) {
  for (const size_t most_paths : {2, 3}) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    t.AddRange(main, "f", 0, 10);
    t.AddRange(main, "g", 20, 30);
    const model::Trace trace = std::move(t).Build();
    analysis::WindowSums sums(most_paths);
    sums.Add(trace, /*is_last=*/true);
    EXPECT_EQ(AboutNewest(trace, sums, {})
                  .ends_with("; there are too many different stacks: 1 calls "
                             "count for the stack around them"),
              most_paths == 2);
  }
}

// As names_left_out says: the timeline has one of the names.
TEST(DeliverSumsTest, WithoutALimitTheTableHasARowForEachNameOfTheSums) {
  constexpr int kNames = 2'000;
  TestTrace older;
  const auto main = older.AddThread(1, 1, "main");
  for (int i = 0; i < kNames; ++i) {
    older.AddRange(main, absl::StrCat("n", i), 20 * i, 20 * i + 10);
  }
  analysis::WindowSums sums;
  sums.Add(std::move(older).Build(), /*is_last=*/true);
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "n0", 0, 10);
  const model::Trace newest = std::move(t).Build();
  sums.SetNewest(newest);
  const auto rows = [&](int limit) {
    const auto tables = MakeTables(newest, {.row_limit = limit}, &sums);
    EXPECT_TRUE(tables.ok()) << tables.status();
    std::set<std::string> names;
    for (const auto& line : absl::StrSplit(tables->text, '\n')) {
      const std::string row(absl::StripLeadingAsciiWhitespace(line));
      if (row.starts_with("n")) names.insert(row.substr(0, row.find(' ')));
    }
    return names.size();
  };
  EXPECT_EQ(rows(-1), size_t{kNames});
  EXPECT_EQ(rows(100), 100u);
}

// What a long recording says: of `events`, `older` ones and older values of
// counters are only in the sums.
std::string TextOfLong(int events, uint64_t older, uint64_t older_values) {
  constexpr TimeNs kBegin = 1'000'000'000;
  const auto add_values = [](TestTrace& t, TimeNs time_ns) {
    t.AddCounter(t.AddThread(1, 1, "main"), "queue", time_ns, 1);
  };
  analysis::WindowSums sums;
  TestTrace window;
  if (older_values != 0) add_values(window, kBegin);
  for (int i = 0; i < events; ++i) window.AddInstant(0, "mark", kBegin);
  sums.Add(std::move(window).Build(), /*is_last=*/true);
  TestTrace t;
  t.SetWindow(kBegin, 5 * kBegin);
  if (older_values != 0) add_values(t, 2 * kBegin);
  // That of another session.
  t.AddCounter(t.AddThread(1, 2, "app"), "memory", kBegin, 1);
  t.data().ledger.Add(model::Loss::kEventsOverwritten, older);
  t.data().ledger.Add(model::Loss::kCounterValuesSummed, older_values);
  const model::Trace newest = std::move(t).Build();
  sums.SetNewest(newest);
  const std::string text = AboutNewest(newest, sums, {});
  return text.substr(0, text.find(". For more"));
}

TEST(AboutNewestTest, SaysWhatOfCountersIsLeft) {
  EXPECT_EQ(TextOfLong(0, 0, 17),
            "a long recording: summary.json counts all values of counters; "
            "timelines have the newest, and reach 3.0 s back, without 17 older "
            "values of counters");
  EXPECT_EQ(TextOfLong(9, 8, 17),
            "a long recording: tables and stacks of ranges have all 9 events, "
            "and summary.json counts all values of counters; timelines have "
            "the newest, and reach 3.0 s back, without 8 older events and 17 "
            "older values of counters");
  EXPECT_EQ(TextOfLong(0, 0, 0),
            "a long recording: tables and stacks of ranges have all 0 events; "
            "timelines have the newest, and reach 0.0 s back, without 0 older "
            "events");
}

TEST(DeliverSumsTest, WithCountersAloneItCountsTheOlderValues) {
  TestTrace t;
  t.AddCounter(t.AddThread(1, 1, "main"), "queue", 5, 1);
  t.data().ledger.Add(model::Loss::kCounterValuesSummed, 16);
  const model::Trace newest = std::move(t).Build();
  analysis::WindowSums sums;
  sums.SetNewest(newest);
  const auto tables = MakeTables(newest, {}, &sums);
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_THAT(tables->text,
              testing::HasSubstr("hit. 17 values of counters were recorded"));
}

// An open range from long ago is in the timeline beside the newest events.
TEST(AboutNewestTest, SaysHowFarBackTheEarliestRangeReaches) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "long", 0, 5'000'000'000);
  t.AddRange(main, "new", 4'900'000'000, 5'000'000'000);
  EXPECT_THAT(AboutNewest(std::move(t).Build(), analysis::WindowSums(), {}),
              testing::HasSubstr("have the newest, and reach 5.0 s back, "));
}

}  // namespace
}  // namespace kymo::tools
