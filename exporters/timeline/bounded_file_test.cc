// Files of a bounded size.
#include "exporters/timeline/bounded_file.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/timeline/short_slices.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
    std::vector<std::string> names;
    for (const auto& [file_name, bytes] : folder.files()) {
      names.push_back(file_name);
    }
    EXPECT_THAT(name.empty() ? std::vector<std::string>{""} : names,
                ElementsAre(name));
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

// Rank 0 of a job reads it again. What the writer leaves out are no ranges.
TEST(BoundedFileTest, AFileThatKeepsItsRangesIsLargerInstead) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (int i = 0; i < 1'000; ++i) t.AddRange(0, "a", 10 * i, 10 * i + 5);
  const model::Trace trace = std::move(t).Build();
  const auto text = [](const FileForm& form) {
    EXPECT_EQ(form.folded_ranges + form.left_out, 0u);
    return Noise(100'000);
  };
  BoundedFile file = {.name = "f", .max_bytes = 10'000, .keeps_ranges = true};
  const Written whole(trace, file, {}, text);
  EXPECT_THAT(whole.attempts, ElementsAre("f.gz /1", "f.gz /1"));
  EXPECT_EQ(whole.appended, 100'000u);
  file.obeys_fold = true;
  const Written thinner(trace, file, {}, text);
  EXPECT_THAT(thinner.attempts, ElementsAre("f.gz /1", "f.gz /11"));
  EXPECT_EQ(thinner.appended, 100'000u);
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
  // Never smaller: two more attempts, by 3 and by 4. Then ever more is left
  // out, and in the end all.
  ExportNotes notes;
  EXPECT_THAT(Attempts(
                  1'000, [](size_t) { return size_t{25'000}; }, &notes),
              ElementsAre("f /1", "f.gz /1", "f.gz /3", "f.gz /12", "f.gz /36",
                          "f.gz /144", "f.gz /1152", "f.gz /999999996"));
  ASSERT_EQ(notes.notices.size(), 1u);
  EXPECT_THAT(notes.notices[0],
              ::testing::MatchesRegex(
                  "f is left out: even without records it would have "
                  "250[0-9][0-9] bytes, and its part of --max_size is 10000; "
                  "--max_size=0 writes it"));
}

TEST(BoundedFileTest, NoMoreIsFoldedThanThereIs) {
  const auto size_of = [](size_t fold) {
    return fold < 100'000 ? 155'000 - fold : 5'000;
  };
  // 15.5 times too large: by 16, by 16 again, by 16, ...
  EXPECT_THAT(Attempts(15, size_of),
              ElementsAre("f /1", "f.gz /1", "f.gz /16", "f.gz /1000000000"));
  EXPECT_THAT(Attempts(16, size_of),
              ElementsAre("f /1", "f.gz /1", "f.gz /16", "f.gz /256",
                          "f.gz /4096", "f.gz /1000000000"));
}

// A sample of many events says that the whole does not fit, so that nobody
// writes it.
TEST(BoundedFileTest, WhatCannotFitIsNotTried) {
  constexpr int kMany = 250'000;
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (int i = 0; i < kMany; ++i) {
    t.AddRange(0, "a", 10 * i, 10 * i + 5);
    t.Describe(1);
  }
  const model::Trace trace = std::move(t).Build();
  size_t most = 0;
  ExportNotes notes;
  ExportOptions options;
  options.notes = &notes;
  MemoryDirectory folder;
  const auto name = WriteBounded(
      {.name = "f", .max_bytes = kMany}, trace, options, folder,
      [&](const model::Trace& shown, const FileForm&, ByteSink& sink) {
        most = std::max(most, shown.event_count());
        return sink.Append(Noise(10 * shown.event_count()));
      });
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_LE(folder.files().at("f.gz").size(), size_t{kMany});
  EXPECT_GE(folder.files().at("f.gz").size(), size_t{kMany} / 8);
  EXPECT_LT(most, size_t{kMany} / 4);
  EXPECT_EQ(notes.ledger.Get(model::Loss::kTimelineLeftOut),
            notes.ledger.Get(model::Loss::kEventsFolded));
  EXPECT_THAT(notes.notices,
              ElementsAre(::testing::HasSubstr(" are folded into others"),
                          ::testing::HasSubstr("had arguments, stacks or ")));
}

// Where the ranges alone are too many, leaving out slices cannot help.
TEST(BoundedFileTest, RangesThatAreTooManyAreFoldedAtOnce) {
  constexpr size_t kMany = 250'000;
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (size_t i = 0; i < kMany; ++i) {
    t.AddRange(0, "a", 10 * static_cast<TimeNs>(i),
               10 * static_cast<TimeNs>(i) + 5);
    t.Describe(1);
  }
  t.AddSample(0, 1, 1, {"main"});
  const model::Trace trace = std::move(t).Build();
  int whole = 0;
  MemoryDirectory folder;
  const auto name = WriteBounded(
      {.name = "f", .max_bytes = kMany * 39 / 10, .obeys_fold = true}, trace,
      {}, folder,
      [&](const model::Trace& shown, const FileForm&, ByteSink& sink) {
        whole += shown.event_count() == kMany;
        return sink.Append(Noise(1'000 + 4 * shown.event_count()));
      });
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(*name, "f.gz");
  EXPECT_EQ(whole, 1);  // it might have fitted
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
