#include "exporters/timeline/fold_ranges.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "profiler/model/event_calls.h"
#include "tests/support/test_trace.h"

namespace kymo::timeline {
namespace {

using model::ActivityType;
using model::EventIndex;
using ::testing::ElementsAre;

// "track parent: name start-end", and the calls of a range that stands for
// others.
std::vector<std::string> Ranges(const model::Trace& trace) {
  EXPECT_TRUE(model::ValidateTrace(trace).ok()) << model::ValidateTrace(trace);
  std::vector<std::string> texts;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    const EventIndex parent = trace.parent()[i];
    texts.push_back(absl::StrCat(
        trace.track()[i], " ",
        parent == model::kNoEvent ? "-" : std::string(trace.EventName(parent)),
        ": ", std::string(trace.EventName(i)), " ", trace.start()[i], "-",
        trace.end()[i]));
    if (trace.flags()[i] & model::kEventFolded) {
      absl::StrAppend(&texts.back(), " x", model::Calls(trace, i));
    }
  }
  return texts;
}

void AddRanges(TestTrace& t, model::TrackIndex track,
               const std::vector<const char*>& names, TimeNs start_ns,
               DurationNs length_ns = 5) {
  for (const char* name : names) {
    t.AddRange(track, name, start_ns, start_ns + length_ns);
    start_ns += 20;
  }
}

TEST(FoldRangesTest, NeighboursBecomeOneRangeForEachName) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "parent", 0, 10'000);
  AddRanges(t, main, {"a", "b", "a", "b", "a"}, 100);
  t.AddRange(main, "b", 200, 211);
  t.AddRange(main, "long", 1'000, 2'000);
  AddRanges(t, main, {"a", "a", "a", "a", "a", "a", "a", "a"}, 3'000);
  AddRanges(t, main, {"c", "d"}, 4'000, 3);
  const model::Trace trace = std::move(t).Build();
  ASSERT_EQ(trace.event_count(), 18u);
  // A range stands for 2 * 18 / 6 others at most. Of the longest three, two
  // are `parent` and `long`. Of the last four ranges, three differ in name.
  const FoldedTrace folded = FoldShortRanges(trace, 6);
  EXPECT_THAT(Ranges(folded.trace),
              ElementsAre("0 -: parent 0-10000", "0 parent: a 100-115 x3",
                          "0 parent: b 115-136 x3", "0 parent: long 1000-2000",
                          "0 parent: a 3000-3030 x6", "0 parent: a 3120-3125",
                          "0 parent: a 3140-3145", "0 parent: c 4000-4003",
                          "0 parent: d 4020-4023"));
  EXPECT_EQ(folded.ranges, 12u);
}

TEST(FoldRangesTest, TheLongestRangesStay) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 8; ++i) t.AddRange(main, "a", 20 * i, 20 * i + 5 + i);
  const model::Trace trace = std::move(t).Build();
  // The lengths are 5 to 12. Without half of 4, the 6 shortest and the next
  // one may be folded, four at a time.
  EXPECT_THAT(
      Ranges(FoldShortRanges(trace, 4).trace),
      ElementsAre("0 -: a 0-26 x4", "0 -: a 80-110 x3", "0 -: a 140-152"));
  EXPECT_THAT(Ranges(FoldShortRanges(trace, 2).trace),
              ElementsAre("0 -: a 0-68 x8"));
  EXPECT_EQ(FoldShortRanges(trace, 1).ranges, 8u);
  // All may stay.
  EXPECT_EQ(Ranges(FoldShortRanges(trace, 100).trace), Ranges(trace));
}

// A range would get the memory of another.
TEST(FoldRangesTest, NothingIsFoldedAcrossAReportOfItsThread) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  AddRanges(t, main, {"a", "a", "a", "a", "a", "a"}, 0);
  const auto other = t.AddThread(1, 2, "other");
  AddRanges(t, other, {"a", "a", "a", "a"}, 0);
  const auto report = [&](model::TrackIndex track, TimeNs time_ns,
                          model::MemorySource source) {
    t.data().memory.push_back({.track = track,
                               .source = source,
                               .time_ns = time_ns,
                               .address = 16,
                               .bytes = 8});
  };
  report(main, 65, model::MemorySource::kReported);  // the fourth one's end
  report(main, 82, model::MemorySource::kHeap);
  report(other, 40, model::MemorySource::kReported);  // the third one's start
  const FoldedTrace folded = FoldShortRanges(std::move(t).Build(), 0);
  EXPECT_THAT(Ranges(folded.trace),
              ElementsAre("0 -: a 0-15 x3", "0 -: a 60-65", "0 -: a 80-90 x2",
                          "1 -: a 0-10 x2", "1 -: a 40-45", "1 -: a 60-65"));
  EXPECT_EQ(folded.ranges, 7u);
  EXPECT_EQ(folded.trace.memory().size(), 3u);
}

TEST(FoldRangesTest, OnlyLikeRangesOfOneParentAreOne) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "p", 0, 100);
  AddRanges(t, main, {"a", "a"}, 20);
  AddRanges(t, main, {"a", "a"}, 120);
  t.AddInstant(main, "a", 190);
  for (int i = 0; i < 6; ++i) {
    t.AddRange(
        main, "a", 200 + 20 * i, 205 + 20 * i,
        i % 3 == 0 ? ActivityType::kUserAnnotation : ActivityType::kCpuOp);
    if (i % 3 == 1) t.data().scope.back() = model::RecordScope::kUserScope;
  }
  t.AddRange(main, "a", 400, 405);
  t.Describe(7);
  const FoldedTrace folded = FoldShortRanges(std::move(t).Build(), 0);
  EXPECT_THAT(
      Ranges(folded.trace),
      ElementsAre("0 -: p 0-100", "0 p: a 20-30 x2", "0 -: a 120-130 x2",
                  "0 -: a 190-190", "0 -: a 200-210 x2", "0 -: a 210-220 x2",
                  "0 -: a 220-230 x2", "0 -: a 400-405"));
  EXPECT_EQ(folded.ranges, 10u);
}

// "x calls" of each range, with a "+" for each range around it.
std::vector<std::string> Tree(const model::Trace& trace) {
  EXPECT_TRUE(model::ValidateTrace(trace).ok()) << model::ValidateTrace(trace);
  std::vector<std::string> texts;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    std::string text;
    for (EventIndex at = trace.parent()[i]; at != model::kNoEvent;
         at = trace.parent()[at]) {
      text += '+';
    }
    texts.push_back(absl::StrCat(text, std::string(trace.EventName(i)), " ",
                                 model::Calls(trace, i)));
  }
  return texts;
}

TEST(FoldRangesTest, RangesAreFoldedWithWhatIsWithinThem) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 6; ++i) {
    const TimeNs start = 1'000 * i;
    t.AddRange(main, "request", start, start + 500);
    t.AddRange(main, i % 2 == 0 ? "parse" : "cached", start, start + 10);
    t.AddRange(main, "send", start + 20, start + 300);
    t.AddRange(main, "write", start + 30, start + 130);
    t.AddRange(main, "write", start + 200, start + 290);
    t.AddRange(main, "log", start + 600, start + 601);
  }
  const FoldedTrace folded = FoldShortRanges(std::move(t).Build(), 0);
  EXPECT_THAT(Tree(folded.trace),
              ElementsAre("request 6", "+parse 3", "+send 6", "++write 12",
                          "+cached 3", "log 6"));
  EXPECT_EQ(folded.ranges, 36u);
  EXPECT_EQ(folded.without_details, 0u);
  EXPECT_THAT(
      Ranges(folded.trace),
      ElementsAre("0 -: request 0-3000 x6", "0 request: parse 0-30 x3",
                  "0 request: send 30-1710 x6", "0 send: write 30-1170 x12",
                  "0 request: cached 1710-1740 x3", "0 -: log 3000-3006 x6"));
}

TEST(FoldRangesTest, WhatHoldsAMarkStaysAndWhatIsBesideItIsFolded) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 3; ++i) {
    t.AddRange(main, "a", 100 * i, 100 * i + 90);
    t.AddRange(main, "b", 100 * i, 100 * i + 10);
    t.AddRange(main, "b", 100 * i + 10, 100 * i + 20);
    if (i == 1) t.AddInstant(main, "mark", 100 * i + 50);
  }
  // An asynchronous one within the last is no part of it.
  t.AddRange(main, "late", 250, 400, ActivityType::kCpuOp, model::kEventAsync);
  EXPECT_THAT(Tree(FoldShortRanges(std::move(t).Build(), 0).trace),
              ElementsAre("a 1", "+b 2", "a 1", "+b 2", "+mark 1", "a 1",
                          "+b 2", "late 1"));
}

TEST(FoldRangesTest, DetailsGoOnlyWhereTheyMay) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 8; ++i) {
    t.AddRange(main, "outer", 100 * i, 100 * i + 90);
    t.AddRange(main, "inner", 100 * i, 100 * i + 10 + i);
    t.Describe(5 + static_cast<uint64_t>(i),
               {model::Arg::Int(t.Intern("n"), i)});
  }
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(FoldShortRanges(trace, 0).ranges, 0u);
  const FoldedTrace folded = FoldShortRanges(trace, 0, Foldable::kAny);
  EXPECT_THAT(Ranges(folded.trace),
              ElementsAre("0 -: outer 0-720 x8", "0 outer: inner 0-108 x8"));
  EXPECT_EQ(folded.ranges, 16u);
  EXPECT_EQ(folded.without_details, 8u);
  EXPECT_TRUE(folded.trace.args(1).empty());
  EXPECT_EQ(folded.trace.detail(1)->correlation_id, 0u);
  // What is folded can be folded again, and is not counted twice.
  const FoldedTrace again = FoldShortRanges(folded.trace, 0);
  EXPECT_EQ(again.ranges, 0u);
  EXPECT_EQ(Ranges(again.trace), Ranges(folded.trace));
}

// As deep as they are, ranges that have nothing in common take little time.
TEST(FoldRangesTest, DeepRangesStay) {
  constexpr int kDeep = 100'000;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < kDeep; ++i) {
    t.AddRange(main, "deep", i, 2 * kDeep - i);
  }
  const model::Trace trace = std::move(t).Build();
  RangeFolder folder(trace, Foldable::kPlain);
  EXPECT_EQ(folder.Plan(0), trace.event_count());
}

}  // namespace
}  // namespace kymo::timeline
