#include "importers/chrome/json/decimal.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace kymo::chrome_import {
namespace {

TEST(DecimalTest, TimesOfTheEpochKeepTheirNanoseconds) {
  EXPECT_EQ(MicrosToNs("1712195495519689.250"), 1712195495519689250);
  EXPECT_EQ(MicrosToNs("4353551411402.791"), 4353551411402791);
  EXPECT_EQ(MicrosToNs("1682725898236567"), 1682725898236567000);
}

TEST(DecimalTest, TakesEveryFormOfANumber) {
  EXPECT_EQ(MicrosToNs("0"), 0);
  EXPECT_EQ(MicrosToNs("-0.001"), -1);
  EXPECT_EQ(MicrosToNs("12.5"), 12500);
  EXPECT_EQ(MicrosToNs("1.5e3"), 1500000);
  EXPECT_EQ(MicrosToNs("1.7e+15"), 1700000000000000000);
  EXPECT_EQ(MicrosToNs("15E-1"), 1500);
  EXPECT_EQ(MicrosToNs("0000000000000000000000000000000000007"), 7000);
  EXPECT_EQ(MicrosToNs("0.00000000000000000000000000000000000000001"), 0);
  EXPECT_EQ(MicrosToNs("0e999999999"), 0);
}

TEST(DecimalTest, TakesAnyNumberOfDigits) {
  const std::string digits = "1234567890123456";
  int64_t whole = 0;
  for (size_t count = 1; count <= digits.size(); ++count) {
    const std::string text = digits.substr(0, count);
    whole = whole * 10 + (text.back() - '0');
    EXPECT_EQ(MicrosToNs(text + ".789"), whole * 1000 + 789);
    EXPECT_EQ(ParseInt(text), whole);
    for (size_t place = 0; place < count; ++place) {
      // Those beside the digits, and one of another sixteen.
      for (const char wrong : {'/', ':', '@'}) {
        std::string broken = text;
        broken[place] = wrong;
        EXPECT_EQ(MicrosToNs(broken + ".789"), std::nullopt) << broken;
        EXPECT_EQ(ParseInt(broken), std::nullopt) << broken;
      }
    }
  }
}

TEST(DecimalTest, RoundsPartsOfANanosecond) {
  EXPECT_EQ(MicrosToNs("1.0004"), 1000);
  EXPECT_EQ(MicrosToNs("1.0005"), 1001);
  EXPECT_EQ(MicrosToNs("-1.0005"), -1001);
  EXPECT_EQ(MicrosToNs("-1.00049999"), -1000);
}

TEST(DecimalTest, RefusesWhatIsNoNumberOrDoesNotFit) {
  for (const char* const text :
       {"",
        "-",
        ".",
        "1.",
        ".5",
        "1e",
        "1e+",
        "5e+-1",
        "5e++1",
        "5e+x",
        "1.2.3",
        "12x",
        "0x10",
        " 1",
        "1 ",
        "NaN",
        "Infinity",
        "--1",
        "9223372036854776",
        "1e300",
        "1e99999999999",
        "12345678901234567890123456789012345678901234"}) {
    EXPECT_EQ(MicrosToNs(text), std::nullopt) << text;
  }
}

// More digits than any time has, in front of the point and behind it.
TEST(DecimalTest, DigitsBeyondThirtyDoNotMatter) {
  EXPECT_EQ(MicrosToNs("1." + std::string(60, '0') + "1"), 1000);
  EXPECT_EQ(MicrosToNs("1." + std::string(60, '9')), 2000);
  EXPECT_EQ(MicrosToNs("0." + std::string(60, '0') + "7e61"), 7000);
  EXPECT_EQ(MicrosToNs("1234567890123456789012345678901234567890e-30"),
            1234567890123);
  EXPECT_EQ(MicrosToNs(std::string(38, '9') + ".5e-38"), 1000);
}

TEST(DecimalTest, TimesFillTheirType) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(MicrosToNs("9223372036854775.807"), kMax);
  EXPECT_EQ(MicrosToNs("9223372036854775807e-3"), kMax);
  EXPECT_EQ(MicrosToNs("-9223372036854775.807"), -kMax);
  for (const char* const text :
       {"9223372036854775.808", "9223372036854775.8075", "9223372036854775807",
        "922337203685477580.7", "9999999999999999.999"}) {
    EXPECT_EQ(MicrosToNs(text), std::nullopt) << text;
  }
  EXPECT_EQ(MicrosToNs("999999999999999.999"), 999999999999999999);
  EXPECT_EQ(MicrosToNs("0.001"), 1);
}

TEST(DecimalTest, ANumberEndsWhereItsViewEnds) {
  const auto begin = [](std::string_view text, size_t size) {
    return MicrosToNs(text.substr(0, size));
  };
  EXPECT_EQ(begin("12", 1), 1000);
  EXPECT_EQ(begin("1.5", 1), 1000);
  EXPECT_EQ(begin("1e5", 1), 1000);
  EXPECT_EQ(begin("1.55", 3), 1500);
  EXPECT_EQ(begin("1.5/", 4), std::nullopt);
  EXPECT_EQ(begin("1.5:", 4), std::nullopt);
  EXPECT_EQ(begin("1:2.345", 7), std::nullopt);
  EXPECT_EQ(begin("1/2.345", 7), std::nullopt);
  EXPECT_EQ(begin("5e-1", 4), 500);
}

TEST(DecimalTest, FastAndGeneralFormsAgree) {
  for (int64_t ns = 1; ns < int64_t{1} << 58; ns = ns * 3 + 7) {
    std::string decimals = std::to_string(ns % 1000);
    decimals.insert(0, 3 - decimals.size(), '0');
    const std::string text = std::to_string(ns / 1000) + "." + decimals;
    EXPECT_EQ(MicrosToNs(text), ns) << text;
    EXPECT_EQ(MicrosToNs(text + "0"), ns) << text;
    EXPECT_EQ(MicrosToNs("-" + text), -ns) << text;
  }
}

TEST(DecimalTest, ReadsWhatPythonWritesForDoubles) {
  EXPECT_EQ(ParseDouble("814.2150101419878"), 814.2150101419878);
  EXPECT_EQ(ParseDouble("-1e-7"), -1e-7);
  EXPECT_TRUE(std::isnan(*ParseDouble("NaN")));
  EXPECT_EQ(ParseDouble("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParseDouble("Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParseDouble("0"), 0.0);
  EXPECT_EQ(ParseDouble("9.5"), 9.5);
  EXPECT_EQ(ParseDouble("1e400"), std::nullopt);
  for (const char* const text : {"", "-", "--1", "x1", ".5", "-inf", "nan"}) {
    EXPECT_EQ(ParseDouble(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseDouble("inf"), std::nullopt);
  EXPECT_EQ(ParseDouble("-nan"), std::nullopt);
  EXPECT_EQ(ParseDouble("1,5"), std::nullopt);
}

TEST(DecimalTest, IntegersFillTheirTypes) {
  EXPECT_EQ(ParseInt("-9223372036854775808"),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(ParseInt("9223372036854775808"), std::nullopt);
  EXPECT_EQ(ParseUint("18446744073709551615"),
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(ParseInt("7.0"), std::nullopt);
  EXPECT_EQ(ParseInt(""), std::nullopt);
  EXPECT_EQ(ParseUint("18446744073709551616"), std::nullopt);
  EXPECT_EQ(ParseUint("-1"), std::nullopt);
}

}  // namespace
}  // namespace kymo::chrome_import
