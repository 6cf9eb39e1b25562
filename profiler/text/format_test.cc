#include "profiler/text/format.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "profiler/text/text_cells.h"

namespace kymo {
namespace {

TEST(FormatTest, HeaderExample) {
  EXPECT_EQ(FormatTime(1500), "1.500ms");
  EXPECT_EQ(FormatMemory(-1536), "-1.50 KB");
  EXPECT_EQ(*FormatTimeShare(1, 8), "12.50%");
}

TEST(FormatTest, TimesAtTheThresholds) {
  EXPECT_EQ(FormatTime(999.9996), "1000.000us");
  EXPECT_EQ(FormatTime(1'000'000), "1.000s");
  EXPECT_EQ(FormatTime(-2500), "-2500.000us");
  EXPECT_EQ(FormatTime(437.4375), "437.438us");
  EXPECT_EQ(FormatTime(1500, "s"), "0.002s");
}

TEST(FormatTest, SharesOfNothing) {
  EXPECT_EQ(*FormatTimeShare(0, 0), "NaN");
  EXPECT_EQ(FormatTimeShare(2.5, 0).status().message(),
            "Expected time_us == 0 but got 2.5");
  EXPECT_EQ(*FormatTimeShare(-3, 2), "-150.00%");
}

TEST(FormatTest, UnitsOfTimeAndTheirThresholds) {
  EXPECT_EQ(FormatTime(0), "0.000us");
  EXPECT_EQ(FormatTime(999.999), "999.999us");
  EXPECT_EQ(FormatTime(1'000), "1.000ms");
  EXPECT_EQ(FormatTime(999'999), "999.999ms");
  EXPECT_EQ(FormatTime(2'500'000, "ms"), "2500.000ms");
  EXPECT_EQ(FormatTime(2'500'000, "us"), "2500000.000us");
  EXPECT_EQ(FormatTime(2'500'000, "hours"), "2.500s");
}

TEST(FormatTest, UnitsOfMemoryAndTheirThresholds) {
  constexpr int64_t kKb = 1'024;
  EXPECT_EQ(FormatMemory(0), "0 B");
  EXPECT_EQ(FormatMemory(kKb - 1), "1023 B");
  EXPECT_EQ(FormatMemory(kKb), "1.00 KB");
  EXPECT_EQ(FormatMemory(kKb * kKb - 1), "1024.00 KB");
  EXPECT_EQ(FormatMemory(kKb * kKb), "1.00 MB");
  EXPECT_EQ(FormatMemory(kKb * kKb * kKb - 1), "1024.00 MB");
  EXPECT_EQ(FormatMemory(kKb * kKb * kKb), "1.00 GB");
  EXPECT_EQ(FormatMemory(-5 * kKb * kKb * kKb / 2), "-2.50 GB");
  EXPECT_EQ(FormatMemory(-kKb + 1), "-1023 B");
}

TEST(TextCellsTest, BytesHaveThreeDigits) {
  constexpr int64_t kKib = 1'024;
  EXPECT_EQ(report::FormatBytes(0), "0 B");
  EXPECT_EQ(report::FormatBytes(kKib - 1), "1023 B");
  EXPECT_EQ(report::FormatBytes(kKib), "1.00 KiB");
  EXPECT_EQ(report::FormatBytes(10 * kKib - 1), "10.0 KiB");
  EXPECT_EQ(report::FormatBytes(234 * kKib / 10), "23.4 KiB");
  EXPECT_EQ(report::FormatBytes(1023 * kKib), "1023 KiB");
  EXPECT_EQ(report::FormatBytes(kKib * kKib - 1), "1.00 MiB");
  EXPECT_EQ(report::FormatBytes(kKib * kKib * kKib), "1.00 GiB");
  EXPECT_EQ(report::FormatBytes(5'000 * kKib * kKib * kKib), "5000 GiB");
  EXPECT_EQ(report::FormatBytes(-3 * kKib / 2), "-1.50 KiB");
}

TEST(TextCellsTest, FixedNumbersHaveTheirDecimals) {
  EXPECT_EQ(report::FormatFixed(1.25, 0), "1");
  EXPECT_EQ(report::FormatFixed(-0.125, 2), "-0.12");
  // 309 digits, a point and 6 more.
  EXPECT_EQ(report::FormatFixed(1.7e308, 6).size(), 316u);
}

// Characters of one, two, three and four bytes, and a lone continuation.
TEST(TextCellsTest, WidthsCountCharacters) {
  const std::string text = "a\u00e9\u4e2d\U0001F600b";
  EXPECT_EQ(report::TextWidth(""), 0u);
  EXPECT_EQ(report::TextWidth(text), 5u);
  const std::string_view firsts[] = {"", "a", "a\u00e9", "a\u00e9\u4e2d",
                                     "a\u00e9\u4e2d\U0001F600"};
  const std::string_view lasts[] = {"", "b", "\U0001F600b", "\u4e2d\U0001F600b",
                                    "\u00e9\u4e2d\U0001F600b"};
  for (size_t width = 0; width < 5; ++width) {
    EXPECT_EQ(report::TakeFirst(text, width), firsts[width]);
    EXPECT_EQ(report::TakeLast(text, width), lasts[width]);
  }
  for (const size_t width : {5, 6}) {
    EXPECT_EQ(report::TakeFirst(text, width), text);
    EXPECT_EQ(report::TakeLast(text, width), text);
  }
}

TEST(TextCellsTest, PaddingStandsOnTheOtherSide) {
  std::string out = ">";
  report::AppendPadded(out, "\u00e9", 3, report::Align::kLeft);
  out += '|';
  report::AppendPadded(out, "\u00e9", 3, report::Align::kRight);
  out += '|';
  report::AppendPadded(out, "long", 4, report::Align::kLeft);
  report::AppendPadded(out, "longer", 4, report::Align::kRight);
  EXPECT_EQ(out, ">\u00e9  |  \u00e9|longlonger");
}

}  // namespace
}  // namespace kymo
