#include "profiler/text/text_cells.h"

#include <gtest/gtest.h>

namespace kymo::report {
namespace {

TEST(WrappedTest, LinesBreakBetweenWords) {
  EXPECT_EQ(Wrapped("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(Wrapped("one two three", 6, 0), "one\ntwo\nthree");
  EXPECT_EQ(Wrapped("one two three", 13, 2), "one two three");
  EXPECT_EQ(Wrapped("", 5, 2), "");
}

TEST(WrappedTest, AWordThatDoesNotFitStaysWhole) {
  EXPECT_EQ(Wrapped("a verylongword b", 5, 1), "a\n verylongword\n b");
  EXPECT_EQ(Wrapped("verylongword", 5, 1), "verylongword");
}

TEST(WrappedTest, ANumberStaysWithItsUnit) {
  EXPECT_EQ(Wrapped("lock 50 %, sleep 5 % of it", 18, 0),
            "lock 50 %, sleep\n5 % of it");
  EXPECT_EQ(Wrapped("waited 12 ms", 10, 2), "waited\n  12 ms");
  EXPECT_EQ(Wrapped("waited 12 s.", 11, 2), "waited\n  12 s.");
  EXPECT_EQ(Wrapped("Thread 1 shares", 9, 0), "Thread 1\nshares");
  EXPECT_EQ(Wrapped("so a s", 4, 0), "so a\ns");
}

TEST(WrappedTest, SpacesAtTheBeginningStay) {
  EXPECT_EQ(Wrapped("   See: a b", 9, 3), "   See: a\n   b");
  EXPECT_EQ(Wrapped("   ", 9, 3), "   ");
}

TEST(WrappedTest, WidthCountsCodePoints) {
  EXPECT_EQ(Wrapped("\u00e4\u00f6 \u00fc", 4, 0), "\u00e4\u00f6 \u00fc");
}

}  // namespace
}  // namespace kymo::report
