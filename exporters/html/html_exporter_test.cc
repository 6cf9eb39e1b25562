#include "exporters/html/html_exporter.h"

#include <cstdint>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "exporters/html/shown_part.h"
#include "exporters/summary/summary_exporter.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_page.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

std::string Page(const model::Trace& trace, const ExportOptions& options = {}) {
  return Export(*NewHtmlExporter(), trace, options).at("report.html");
}

using Bytes = std::string;

TEST(HtmlExporterTest, WritesColumnsOfEvents) {
  TestTrace t;
  t.SetWindow(1'000, 2'000);
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "step", 1'000, 1'200);
  t.AddRange(main, "add", 1'010, 1'020);
  t.AddRange(main, "add", 1'030, 1'031);
  t.AddRange(main, "add", 1'300, 1'301);
  const std::string page = Page(std::move(t).Build());
  EXPECT_EQ(BlockOfPage(page, "starts"), Bytes("\0\x0A\x14\x8E\x02", 5));
  EXPECT_EQ(BlockOfPage(page, "lengths"), Bytes("\xC8\x01\x0A\x01\x01", 5));
  // step, step > add, the same, add.
  EXPECT_EQ(BlockOfPage(page, "pathids"), Bytes("\x01\x02\x02\x03", 4));
  // Three paths: their distance to the parent, name, type and flags.
  EXPECT_EQ(BlockOfPage(page, "paths"),
            Bytes("\x03\x01\x01\0\0\x01\x02\0\0\x03\x02\0\0", 13));
  EXPECT_EQ(BlockOfPage(page, "strings"), Bytes("\x03\0\x04step\x03"
                                                "add",
                                                11));
}

TEST(HtmlExporterTest, WritesSamplesAndTheStacksThatTheyNeed) {
  TestTrace t;
  t.SetWindow(0, 100);
  const auto main = t.AddThread(1, 1, "main");
  t.AddSample(main, 10, 5, {"main", "f"}, "app");
  t.AddSample(main, 30, -1, {"main"}, "app");
  t.data().stacks.Push(model::kEmptyStack,
                       t.data().stacks.AddFrame({.line = 7}));  // nobody's
  const std::string page = Page(std::move(t).Build());
  EXPECT_EQ(BlockOfPage(page, "stacks"), Bytes("\x02\x01\0\x01\x01", 5));
  EXPECT_EQ(BlockOfPage(page, "samples"), Bytes("\x0A\x02\x0A\x14\x01\x01", 6));
}

TEST(HtmlExporterTest, HasTheTextOfTheSummary) {
  TestTrace t;
  t.AddProcess(1, "app");
  t.AddRange(t.AddThread(1, 1, "main"), "step", 0, 10);
  const model::Trace trace = std::move(t).Build();
  const std::string page = Page(trace);
  EXPECT_EQ(BlockOfPage(page, "summary"),
            Export(*NewSummaryExporter(), trace).at("summary.json"));
}

TEST(HtmlExporterTest, NamesOfTheTargetAreNoMarkup) {
  const std::string evil = "</script><script>alert(1)</script>";
  TestTrace t;
  t.AddProcess(1, evil);
  const auto main = t.AddThread(1, 1, evil);
  t.AddRange(main, evil + "\xFF", 0, 10);
  t.AddMetadata(evil, "\"" + evil + "\"");
  const std::string page = Page(std::move(t).Build());
  EXPECT_EQ(page.find("alert"), std::string::npos);
  EXPECT_NE(BlockOfPage(page, "strings").find(evil + "\xEF\xBF\xBD"),
            std::string::npos);
}

TEST(HtmlExporterTest, LoadsNothing) {
  const std::string page = Page(TestTrace().Build());
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"),
            std::string::npos);
  EXPECT_FALSE(std::regex_search(page.substr(0, page.find("data-name=")),
                                 std::regex("(src|href)=|url\\(|@import")));
}

TEST(HtmlExporterTest, ShowsTheLongestOfTooManyRanges) {
  constexpr int kShort = 1'200'000;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < kShort; ++i)
    t.AddRange(main, "short", 10 * i, 10 * i + 1);
  t.AddRange(main, "long", 10 * kShort, 20 * kShort);
  const model::Trace trace = std::move(t).Build();
  ExportNotes notes;
  const std::string page = Page(trace, {.notes = &notes});
  const std::string meta = BlockOfPage(page, "meta");
  EXPECT_NE(meta.find("\"events\": 1100000"), std::string::npos) << meta;
  EXPECT_NE(meta.find("\"events_left_out\": 100001"), std::string::npos);
  // The last one is the long one.
  EXPECT_EQ(BlockOfPage(page, "pathids").back(), '\x02');
  ASSERT_EQ(notes.notices.size(), 1);
  EXPECT_NE(notes.notices[0].find("leaves out 100001"), std::string::npos);
}

TEST(HtmlExporterTest, APageThatIsTooLargeHasTheLongestRanges) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  std::mt19937_64 random(1);
  for (int i = 0; i < 40'000; ++i) {
    const auto ns = static_cast<int>(random() % 900);
    t.AddRange(main, "range", 1'000 * i, 1'000 * i + ns);
  }
  const model::Trace trace = std::move(t).Build();
  const size_t whole = Page(trace).size();
  ExportNotes notes;
  const uint64_t max_bytes = whole - 10'000;
  const std::string page =
      Page(trace, {.max_bytes = max_bytes, .notes = &notes});
  EXPECT_LE(page.size(), max_bytes);
  ASSERT_EQ(notes.notices.size(), 1);
  EXPECT_NE(notes.notices[0].find("leaves out "), std::string::npos);
  EXPECT_EQ(Page(trace, {.max_bytes = whole}).size(), whole);
}

TEST(HtmlExporterTest, IsLeftOutIfItsTablesAreTooLarge) {
  ExportNotes notes;
  const Exported files = Export(*NewHtmlExporter(), TestTrace().Build(),
                                {.max_bytes = 10, .notes = &notes});
  EXPECT_TRUE(files.empty());
  ASSERT_EQ(notes.notices.size(), 1);
  EXPECT_NE(notes.notices[0].find("report.html is left out: its tables alone "
                                  "take more than its 10 bytes of --max_size"),
            std::string::npos);
}

TEST(ShownPartTest, ShowsAllThatFits) {
  html::ShownPart part(3);
  for (const DurationNs ns : {0, 5, 1'000}) part.Count(ns);
  part.Decide();
  for (const DurationNs ns : {0, 5, 1'000}) EXPECT_TRUE(part.Shows(ns));
  EXPECT_EQ(part.left_out(), 0);
  EXPECT_EQ(part.least_ns(), 0);
}

TEST(ShownPartTest, SpreadsWhatItShowsOfOneLength) {
  html::ShownPart part(4);
  for (int i = 0; i < 8; ++i) part.Count(100);
  part.Count(1 << 30);
  part.Count(1);
  part.Decide();
  EXPECT_EQ(part.left_out(), 6);
  EXPECT_GT(part.least_ns(), 100);  // not all of 100 ns are shown
  EXPECT_LT(part.least_ns(), 110);
  EXPECT_TRUE(part.Shows(1 << 30));
  EXPECT_FALSE(part.Shows(1));
  std::string shown;
  for (int i = 0; i < 8; ++i) shown += part.Shows(100) ? 'x' : '.';
  EXPECT_EQ(shown, "..x..x.x");
}

}  // namespace
}  // namespace kymo
