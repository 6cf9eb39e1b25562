#include "profiler/text/json_member.h"

#include "gtest/gtest.h"

namespace kymo::json {
namespace {

TEST(JsonMember, ReadsValuesOfTheRightType) {
  EXPECT_EQ(IntMember(R"({"a": 1, "rank": -3})", "rank"), -3);
  EXPECT_EQ(TextMember(R"({"host": "a\u00e9b"})", "host"), "a\u00e9b");
  EXPECT_EQ(TextOf(R"("node\"7")"), "node\"7");
}

TEST(JsonMember, NothingForAnythingElse) {
  EXPECT_EQ(IntMember(R"({"rank": "3"})", "rank"), std::nullopt);
  EXPECT_EQ(IntMember(R"({"rank": 3)", "rank"), std::nullopt);
  EXPECT_EQ(IntMember("[3]", "rank"), std::nullopt);
  EXPECT_EQ(IntMember("", "rank"), std::nullopt);
  EXPECT_EQ(IntMember(R"({"rank": 1e300})", "rank"), std::nullopt);
  EXPECT_EQ(TextMember(R"({"host": 3})", "host"), std::nullopt);
  EXPECT_EQ(TextMember("{}", "host"), std::nullopt);
  EXPECT_EQ(TextOf("3"), std::nullopt);
  EXPECT_EQ(TextOf(""), std::nullopt);
}

}  // namespace
}  // namespace kymo::json
