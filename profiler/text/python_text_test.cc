#include "profiler/text/python_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace kymo {
namespace {

TEST(PythonTextTest, HeaderExample) {
  EXPECT_EQ(PythonFloat(100000), "100000.0");
  EXPECT_EQ(PythonList({{64, 32}, {}}), "[[64, 32], []]");
  EXPECT_EQ(PythonString("it's"), "\"it's\"");
  EXPECT_EQ(PythonJsonString("\u03bb"), "\"\\u03bb\"");
}

TEST(PythonTextTest, FloatsAreShortAndReadBack) {
  EXPECT_EQ(PythonFloat(0), "0.0");
  EXPECT_EQ(PythonFloat(-0.0), "-0.0");
  EXPECT_EQ(PythonFloat(0.1), "0.1");
  EXPECT_EQ(PythonFloat(-12.75), "-12.75");
  EXPECT_EQ(PythonFloat(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(PythonFloat(7406.523999999999), "7406.523999999999");
  EXPECT_EQ(PythonFloat(123456789012345680.0), "1.2345678901234568e+17");
}

TEST(PythonTextTest, FloatsGetAnExponentWhereTheyAreLongWithoutOne) {
  EXPECT_EQ(PythonFloat(1e15), "1000000000000000.0");
  EXPECT_EQ(PythonFloat(1e16), "1e+16");
  EXPECT_EQ(PythonFloat(0.0001), "0.0001");
  EXPECT_EQ(PythonFloat(0.00001), "1e-05");
  EXPECT_EQ(PythonFloat(1.5e300), "1.5e+300");
  EXPECT_EQ(PythonFloat(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(PythonFloat(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(PythonTextTest, Lists) {
  EXPECT_EQ(PythonList({}), "[]");
  EXPECT_EQ(PythonList({{}}), "[[]]");
  EXPECT_EQ(PythonList({{-1}, {2, 3, 4}}), "[[-1], [2, 3, 4]]");
}

TEST(PythonTextTest, StringsChooseTheirQuotes) {
  EXPECT_EQ(PythonString("a"), "'a'");
  EXPECT_EQ(PythonString("\"it's\""), "'\"it\\'s\"'");
  EXPECT_EQ(PythonString("a\\b\n\x01"), "'a\\\\b\\n\\x01'");
}

TEST(PythonTextTest, JsonIsAscii) {
  EXPECT_EQ(PythonJsonString("a\"\\\n\t\x01\x7f"),
            "\"a\\\"\\\\\\n\\t\\u0001\\u007f\"");
  EXPECT_EQ(PythonJsonString("\U0001F600"), "\"\\ud83d\\ude00\"");
  EXPECT_EQ(PythonJsonString("\u00e9\uffff"), "\"\\u00e9\\uffff\"");
}

TEST(PythonTextTest, JsonHasPythonsShortEscapes) {
  EXPECT_EQ(PythonJsonString("\b\f\r"), "\"\\b\\f\\r\"");
  // A backslash before such text is no escape of it.
  EXPECT_EQ(PythonJsonString("\\u0008"), "\"\\\\u0008\"");
}

TEST(PythonTextTest, JsonReplacesWhatIsNotUtf8) {
  EXPECT_EQ(PythonJsonString("a\xff"), "\"a\\ufffd\"");
  EXPECT_EQ(PythonJsonString("\xe2\x82"), "\"\\ufffd\"");
  EXPECT_EQ(PythonJsonString("\xc0\x80"), "\"\\ufffd\\ufffd\"");
  EXPECT_EQ(PythonJsonString("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
}

}  // namespace
}  // namespace kymo
