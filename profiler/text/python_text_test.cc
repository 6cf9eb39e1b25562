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

// Python's repr() has an exponent below 1e-4 and from 1e16 on.
TEST(PythonTextTest, FloatsOfEveryLengthKeepTheirDigits) {
  EXPECT_EQ(PythonFloat(1), "1.0");
  EXPECT_EQ(PythonFloat(10), "10.0");
  EXPECT_EQ(PythonFloat(12), "12.0");
  EXPECT_EQ(PythonFloat(12.5), "12.5");
  EXPECT_EQ(PythonFloat(0.5), "0.5");
  EXPECT_EQ(PythonFloat(0.05), "0.05");
  EXPECT_EQ(PythonFloat(0.00125), "0.00125");
  EXPECT_EQ(PythonFloat(-0.00015), "-0.00015");
  EXPECT_EQ(PythonFloat(-0.000015), "-1.5e-05");
  EXPECT_EQ(PythonFloat(9'999'999'999'999'998), "9999999999999998.0");
  EXPECT_EQ(PythonFloat(-1.5e16), "-1.5e+16");
  EXPECT_EQ(PythonFloat(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(PythonBool(true), "True");
  EXPECT_EQ(PythonBool(false), "False");
}

TEST(PythonTextTest, StringsEscapeWhatPythonEscapes) {
  EXPECT_EQ(PythonString("\r\n\t"), "'\\r\\n\\t'");
  EXPECT_EQ(PythonString("\x1f \x7f\x80"), "'\\x1f \\x7f\x80'");
  EXPECT_EQ(PythonString("it's"), "\"it's\"");
  EXPECT_EQ(PythonString("\"quoted\""), "'\"quoted\"'");
  EXPECT_EQ(PythonString(""), "''");
}

// Surrogates of the first and the last code point that need them.
TEST(PythonTextTest, JsonHasSurrogatesFromU10000On) {
  EXPECT_EQ(PythonJsonString("\uFFFD\U00010000\U0010FFFF"),
            "\"\\ufffd\\ud800\\udc00\\udbff\\udfff\"");
  EXPECT_EQ(PythonJsonString("\u0080\u07FF\u0800"),
            "\"\\u0080\\u07ff\\u0800\"");
}

}  // namespace
}  // namespace kymo
