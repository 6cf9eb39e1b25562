#include "profiler/text/format.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kymo
