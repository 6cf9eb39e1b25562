#include "profiler/query/query_error.h"

#include <gtest/gtest.h>

#include <string>

namespace kymo::query {
namespace {

TEST(PlaceInQueryTest, MarksThePlace) {
  EXPECT_EQ(PlaceInQuery("select nam from events", 7),
            "\n  select nam from events\n         ^");
  EXPECT_EQ(PlaceInQuery("x", 1), "\n  x\n   ^");
}

TEST(PlaceInQueryTest, ShowsTheLineOnly) {
  EXPECT_EQ(PlaceInQuery("select\n  nam\nfrom events", 9), "\n    nam\n    ^");
}

TEST(PlaceInQueryTest, NothingOutsideOfTheText) {
  EXPECT_EQ(PlaceInQuery("select", -1), "");
  EXPECT_EQ(PlaceInQuery("select", 7), "");
}

TEST(PlaceInQueryTest, CutsLongLinesAroundThePlace) {
  const std::string place =
      PlaceInQuery(std::string(200, 'a') + "X" + std::string(200, 'b'), 200);
  EXPECT_EQ(place, "\n  ..." + std::string(60, 'a') + "X" +
                       std::string(39, 'b') + "...\n  " + std::string(63, ' ') +
                       "^");
}

TEST(PlaceInQueryTest, CountsCharactersThatPeopleSee) {
  EXPECT_EQ(PlaceInQuery("'\u00e9\x1b' x", 6),
            "\n  '\u00e9\\x1b' x\n          ^");
}

TEST(OffsetOfNameTest, FindsWholeNames) {
  EXPECT_EQ(OffsetOfName("select xa from x", "no such table: x"), 15);
  EXPECT_EQ(OffsetOfName("select xa from x_y", "no such table: x"), -1);
  EXPECT_EQ(OffsetOfName("select 1", "no such table: x"), -1);
  EXPECT_EQ(OffsetOfName("select 1", "no colon"), -1);
  EXPECT_EQ(OffsetOfName("select 1", "ends with: "), -1);
}

}  // namespace
}  // namespace kymo::query
