#include "profiler/analysis/findings/finding_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

TEST(FindingTextTest, TimesHaveThreeDigits) {
  EXPECT_EQ(TimeText(0), "0 ns");
  EXPECT_EQ(TimeText(17), "17 ns");
  EXPECT_EQ(TimeText(999), "999 ns");
  EXPECT_EQ(TimeText(1'000), "1.00 us");
  EXPECT_EQ(TimeText(310'400), "310 us");
  EXPECT_EQ(TimeText(999'499), "999 us");
  EXPECT_EQ(TimeText(999'500), "1.00 ms");
  EXPECT_EQ(TimeText(45'040'000), "45.0 ms");
  EXPECT_EQ(TimeText(9'994'000), "9.99 ms");
  EXPECT_EQ(TimeText(9'996'000), "10.0 ms");
  EXPECT_EQ(TimeText(1'210'000'000), "1.21 s");
  EXPECT_EQ(TimeText(86'400'000'000'000), "86400 s");
  EXPECT_EQ(TimeText(-1'500'000), "-1.50 ms");
}

TEST(FindingTextTest, SharesAndCounts) {
  EXPECT_EQ(PercentText(45, 100), "45 %");
  EXPECT_EQ(PercentText(45, 1000), "4.5 %");
  EXPECT_EQ(PercentText(0, 10), "0 %");
  EXPECT_EQ(PercentText(1, 0), "0 %");
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1'000), "1,000");
  EXPECT_EQ(CountText(-1'234'567), "-1,234,567");
  EXPECT_EQ(CountText(-123), "-123");
  EXPECT_EQ(CountText(1, "call", "calls"), "1 call");
  EXPECT_EQ(CountText(2'000, "call", "calls"), "2,000 calls");
}

TEST(FindingTextTest, NamesAreShortened) {
  EXPECT_EQ(NameText(""), "[unknown]");
  EXPECT_EQ(NameText("aten::mm"), "aten::mm");
  EXPECT_EQ(NameText("ns::Table<" + std::string(100, 'x') + ">::insert(int)"),
            "ns::Table<...>::insert");
}

TEST(FindingTextTest, TracksAreThreadsOrStreams) {
  TestTrace t;
  const auto main = t.AddThread(7, 8, "worker");
  const auto other = t.AddThread(7, 9, "");
  const auto stream = t.AddStream(0, 7, 7);
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(TrackText(trace, main), "thread worker (8)");
  EXPECT_EQ(TrackText(trace, other), "thread 9");
  EXPECT_EQ(TrackText(trace, stream), "stream 7 of device 0");
}

}  // namespace
}  // namespace kymo::analysis
