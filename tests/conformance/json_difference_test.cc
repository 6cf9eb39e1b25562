#include "tests/conformance/json_difference.h"

#include <gtest/gtest.h>

namespace kymo::conformance {
namespace {

TEST(JsonDifferenceTest, HeaderExample) {
  EXPECT_EQ(JsonDifference(R"({"a": [1]})", R"({"a": [2]})"),
            "/a/0: 1 is not 2");
}

TEST(JsonDifferenceTest, EqualValuesMayBeWrittenDifferently) {
  EXPECT_EQ(JsonDifference(R"({"a": 1.0, "b": [null, "x"]})",
                           R"({ "b":[null,"\u0078"],"a":1 })"),
            "");
  EXPECT_EQ(JsonDifference("[1000000.1]", "[1000000.2]"), "");
}

TEST(JsonDifferenceTest, TellsWhatDiffers) {
  for (const auto& [a, b] : {std::pair("1", "2"),
                             {"1.0", "1.001"},
                             {"0.0", "0.001"},
                             {"1", "\"1\""},
                             {"null", "0"},
                             {"true", "false"},
                             {"[]", "[1]"},
                             {R"({"a":1})", "{}"},
                             {"{}", R"({"a":1})"},
                             {R"(["a"])", R"(["b"])"},
                             {"9007199254740993", "9007199254740992"},
                             {"{", "{}"},
                             {"1", ""}}) {
    EXPECT_NE(JsonDifference(a, b), "") << a << " " << b;
  }
}

}  // namespace
}  // namespace kymo::conformance
