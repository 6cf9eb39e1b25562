// Files of a bounded size, and the ranges that are folded for it.
#include "exporters/timeline/bounded_file.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/timeline/fold_ranges.h"
#include "exporters/timeline/short_slices.h"
#include "profiler/model/event_calls.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo::timeline {
namespace {

using model::ActivityType;
using model::EventIndex;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// Writes a file of a trace with text_of(form), piece by piece, and remembers
// "name /fold" of each attempt.
struct Written {
  std::vector<std::string> attempts;
  size_t appended = 0;  // of the last attempt, until its error
  std::string error;    // of the first attempt that had one
  std::string name;
  MemoryDirectory folder;

  template <typename TextOf>
  Written(const model::Trace& trace, const BoundedFile& file,
          const ExportOptions& options, const TextOf& text_of) {
    folder.files()["f"] = folder.files()["f.gz"] = "earlier";
    const auto write = [&](const model::Trace&, const FileForm& form,
                           ByteSink& sink) -> absl::Status {
      attempts.push_back(absl::StrCat(form.name, " /", form.fold));
      appended = 0;
      const std::string text = text_of(form);
      for (size_t i = 0; i < text.size(); i += 1'000) {
        const absl::Status status =
            sink.Append(std::string_view(text).substr(i, 1'000));
        if (!status.ok()) {
          if (error.empty()) error = std::string(status.message());
          return status;
        }
        appended = std::min(i + 1'000, text.size());
      }
      return absl::OkStatus();
    };
    const auto result = WriteBounded(file, trace, options, folder, write);
    EXPECT_TRUE(result.ok()) << result.status();
    if (result.ok()) name = *result;
    EXPECT_EQ(folder.files().size(), 1u);
    EXPECT_EQ(folder.files().begin()->first, name);
  }
};

// So many events that are no ranges, and samples.
model::Trace Trace(int events, int samples = 0) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (int i = 0; i < events; ++i) t.AddInstant(0, "instant", i);
  for (int i = 0; i < samples; ++i) t.AddSample(0, i, 1, {"main"});
  return std::move(t).Build();
}

TEST(BoundedFileTest, WithoutABoundItIsWrittenOnce) {
  const auto text = [](const FileForm&) { return Noise(100'000); };
  ExportOptions options;
  const Written plain(Trace(1), {.name = "f"}, options, text);
  EXPECT_THAT(plain.attempts, ElementsAre("f /1"));
  EXPECT_EQ(plain.appended, 100'000u);
  options.gzip = true;
  const Written gzip(Trace(1), {.name = "f"}, options, text);
  EXPECT_THAT(gzip.attempts, ElementsAre("f.gz /1"));
  EXPECT_EQ(gzip.appended, 100'000u);
}

TEST(BoundedFileTest, TheFileIsPlainUpToItsBound) {
  const auto text = [](const FileForm&) { return std::string(4'000, 'x'); };
  const Written fits(Trace(100), {.name = "f", .max_bytes = 4'000}, {}, text);
  EXPECT_THAT(fits.attempts, ElementsAre("f /1"));
  EXPECT_EQ(fits.error, "");
  const Written not_quite(Trace(99), {.name = "f", .max_bytes = 3'999}, {},
                          text);
  EXPECT_THAT(not_quite.attempts, ElementsAre("f /1", "f.gz /1"));
  EXPECT_EQ(not_quite.error, "the file is larger than allowed");
  EXPECT_EQ(not_quite.appended, 4'000u);
  // An event has 40 bytes at least, so 101 of them need no attempt.
  const Written many(Trace(101), {.name = "f", .max_bytes = 4'000}, {}, text);
  EXPECT_THAT(many.attempts, ElementsAre("f.gz /1"));
  for (const uint64_t least : {4'000, 4'001}) {
    const Written known(Trace(1),
                        {.name = "f", .max_bytes = 4'000, .least_bytes = least},
                        {}, text);
    EXPECT_EQ(known.attempts.front(), least == 4'000 ? "f /1" : "f.gz /1");
  }
  ExportOptions options;
  options.gzip = true;
  const Written gzip(Trace(1), {.name = "f", .max_bytes = 4'000}, options,
                     text);
  EXPECT_THAT(gzip.attempts, ElementsAre("f.gz /1"));
}

TEST(BoundedFileTest, AnAttemptEndsAtSixteenTimesTheBound) {
  ExportNotes notes;
  ExportOptions options;
  options.notes = &notes;
  const Written written(Trace(0, 20),
                        {.name = "f", .max_bytes = 100'000, .obeys_fold = true},
                        options, [](const FileForm& form) {
                          return Noise(form.fold == 1 ? 4'000'000 : 1'000);
                        });
  // The first measured bytes are 16.0 times too many, so 1 / 17 may fit.
  EXPECT_THAT(written.attempts, ElementsAre("f /1", "f.gz /1", "f.gz /17"));
  EXPECT_EQ(written.appended, 1'000u);
  // It fits, and no range of it was folded.
  EXPECT_THAT(notes.notices, IsEmpty());
}

// The attempts at a file of a trace with so many samples, for a bound of
// 10,000 bytes.
std::vector<std::string> Attempts(int samples, size_t (*size_of)(size_t fold),
                                  ExportNotes* notes = nullptr) {
  ExportOptions options;
  options.notes = notes;
  return Written(
             Trace(0, samples),
             {.name = "f", .max_bytes = 10'000, .obeys_fold = true}, options,
             [&](const FileForm& form) { return Noise(size_of(form.fold)); })
      .attempts;
}

TEST(BoundedFileTest, FoldsGrowByWhatIsTooLargeAndThenEverMore) {
  // 9.9 times too large: a tenth of it fits.
  EXPECT_THAT(Attempts(1'000, [](size_t fold) { return 99'000 / fold; }),
              ElementsAre("f /1", "f.gz /1", "f.gz /10"));
  // 5.9 times, 5.4, 2.4: fold by 6, by 6 again, and by 8.
  EXPECT_THAT(
      Attempts(1'000,
               [](size_t fold) {
                 return fold < 60 ? 60'000 - 1'000 * fold : 5'000;
               }),
      ElementsAre("f /1", "f.gz /1", "f.gz /6", "f.gz /36", "f.gz /288"));
  // Never smaller: two more attempts, by 3 and by 4, and the last one whole.
  ExportNotes notes;
  EXPECT_THAT(
      Attempts(
          1'000, [](size_t) { return size_t{25'000}; }, &notes),
      ElementsAre("f /1", "f.gz /1", "f.gz /3", "f.gz /12", "f.gz /12"));
  ASSERT_EQ(notes.notices.size(), 1u);
  EXPECT_THAT(notes.notices[0], ::testing::MatchesRegex(
                                    "f.gz has 250[0-9][0-9] bytes, more than "
                                    "its 10000 of --max_size: nothing more of "
                                    "it can be folded"));
}

TEST(BoundedFileTest, NoMoreIsFoldedThanThereIs) {
  const auto size_of = [](size_t fold) {
    return fold < 100'000 ? 155'000 - fold : 5'000;
  };
  // 15.5 times too large: by 16, by 16 again, by 16, ...
  EXPECT_THAT(Attempts(15, size_of),
              ElementsAre("f /1", "f.gz /1", "f.gz /16", "f.gz /16"));
  EXPECT_THAT(Attempts(16, size_of), ElementsAre("f /1", "f.gz /1", "f.gz /16",
                                                 "f.gz /256", "f.gz /256"));
}

// A file of ranges with 100 bytes each, bounded by 10,000.
Written HundredBytesARange(ExportNotes* notes) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (int i = 0; i < 240; ++i) t.AddRange(0, "a", 10 * i, 10 * i + 5);
  const model::Trace trace = std::move(t).Build();
  ExportOptions options;
  options.notes = notes;
  return Written(trace, {.name = "f", .max_bytes = 10'000}, options,
                 [](const FileForm& form) {
                   return Noise(form.folded_ranges == 0 ? 24'000 : 100);
                 });
}

TEST(BoundedFileTest, NotesSayWhatWasFolded) {
  ExportNotes notes;
  // An earlier file has folded some of the same ranges.
  notes.ledger.Add(model::Loss::kEventsFolded, 7);
  EXPECT_THAT(HundredBytesARange(&notes).attempts,
              ElementsAre("f /1", "f.gz /1", "f.gz /3"));
  // A third may stay, which is 80: 2 * 240 / 80 ranges become one.
  EXPECT_THAT(notes.notices,
              ElementsAre("f.gz: 240 of 240 ranges are folded into others of "
                          "their name, to stay within --max_size; 0 shows "
                          "each of them"));
  EXPECT_EQ(notes.ledger.Get(model::Loss::kEventsFolded), 240u);
  notes.ledger.Add(model::Loss::kEventsFolded, 60);
  HundredBytesARange(&notes);
  EXPECT_EQ(notes.ledger.Get(model::Loss::kEventsFolded), 300u);
  HundredBytesARange(nullptr);
}

TEST(ShortSlicesTest, ALimitThatLeavesOutAllIsNoReason) {
  ShortSlices slices = {
      .shorter_than_ns = 2'097'152'000'000, .all = 9, .left_out = 9};
  EXPECT_EQ(TextOf(slices, "waits"),
            "all 9 waits are left out, to stay within --max_size; 0 shows each "
            "of them");
  slices = {.shorter_than_ns = 9'999'999, .all = 9, .left_out = 8};
  EXPECT_EQ(TextOf(slices, "waits"),
            "8 of 9 waits are left out, because they are shorter than 9999 us, "
            "to stay within --max_size; 0 shows each of them");
  slices.shorter_than_ns = 12'000'000;
  EXPECT_NE(TextOf(slices, "waits").find("than 12 ms,"), std::string::npos);
}

}  // namespace
}  // namespace kymo::timeline
