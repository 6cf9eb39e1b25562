#include "importers/chrome/json/json_string.h"

#include <gtest/gtest.h>

namespace kymo::chrome_import {
namespace {

std::string Text(std::string_view raw) {
  std::string scratch;
  return std::string(Unescape(raw, scratch));
}

TEST(JsonStringTest, PlainTextIsNotCopied) {
  const std::string_view raw = "aten::add";
  std::string scratch;
  EXPECT_EQ(Unescape(raw, scratch).data(), raw.data());
}

TEST(JsonStringTest, ReadsEveryEscape) {
  EXPECT_EQ(Text(R"(a\"b\\c\/d\b\f\n\r\t)"), "a\"b\\c/d\b\f\n\r\t");
  EXPECT_EQ(Text(R"(\u0041\u00e9\u20ac)"), "A\u00e9\u20ac");
  EXPECT_EQ(Text(R"(\ud83d\ude00!)"), "\U0001F600!");
  EXPECT_EQ(Text(R"(\u0000x)"), std::string("\0x", 2));
}

// The lengths of RFC 3629, and characters whose bits take turns.
TEST(JsonStringTest, EscapesBecomeUtf8OfEveryLength) {
  EXPECT_EQ(Text(R"(\u007f|\u0080|\u07ff|\u0800|\uffff)"),
            "\x7F|\xC2\x80|\xDF\xBF|\xE0\xA0\x80|\xEF\xBF\xBF");
  EXPECT_EQ(Text(R"(\u0055\u02aa\u0555\u5555\uaaaa\u1234)"),
            "U\u02aa\u0555\u5555\uaaaa\u1234");
  EXPECT_EQ(Text(R"(\ud800\udc00|\udbff\udfff|\udbff\udc00|\ud800\udfff)"),
            "\U00010000|\U0010FFFF|\U0010FC00|\U000103FF");
  EXPECT_EQ(Text(R"(\ud955\udd55|\udaaa\udeaa)"), "\U00065555|\U000BAAAA");
  EXPECT_EQ(Text(R"(\ud7ff|\ue000)"), "\uD7FF|\uE000");
}

TEST(JsonStringTest, HalvesOfPairsAreReplaced) {
  for (const char* const half :
       {R"(\ud800)", R"(\udbff)", R"(\udc00)", R"(\udfff)"}) {
    EXPECT_EQ(Text(half), "\uFFFD") << half;
  }
  EXPECT_EQ(Text(R"(\ud800\udbff)"), "\uFFFD\uFFFD");
  EXPECT_EQ(Text(R"(\udc00\udc00)"), "\uFFFD\uFFFD");
  EXPECT_EQ(Text(R"(\ud800\ue000)"), "\uFFFD\uE000");
  EXPECT_EQ(Text(R"(\ud800\n)"), "\uFFFD\n");
  EXPECT_EQ(Text(R"(\ud800 \udc00)"), "\uFFFD \uFFFD");
}

TEST(JsonStringTest, TheTextEndsWhereItsViewEnds) {
  const std::string_view longer = R"(\u1234)";
  EXPECT_EQ(Text(longer.substr(0, 5)), R"(\u123)");
  EXPECT_EQ(Text(longer), "\u1234");
  EXPECT_EQ(Text(R"(\u12g4)"), R"(\u12g4)");
  EXPECT_EQ(Text(R"(\u)"), R"(\u)");
  // What an earlier text left behind is gone.
  std::string scratch;
  EXPECT_EQ(Unescape(R"(first\n)", scratch), "first\n");
  EXPECT_EQ(Unescape(R"(a\tb)", scratch), "a\tb");
}

TEST(JsonStringTest, BrokenEscapesLoseNothingElse) {
  EXPECT_EQ(Text(R"(\x\u12)"), R"(\x\u12)");
  EXPECT_EQ(Text(R"(\ud83dx)"), "\uFFFDx");
  EXPECT_EQ(Text(R"(\ude00\ud83d)"), "\uFFFD\uFFFD");
  EXPECT_EQ(Text(R"(\ud83d\u0041)"),
            "\uFFFD"
            "A");
  EXPECT_EQ(Text("end\\"), "end\\");
}

TEST(JsonStringTest, RepairsBytesAndControlCharactersOfStrings) {
  EXPECT_EQ(RepairJson("{\"a\nb\": \"\xFF\"}\n"),
            "{\"a\\u000ab\": \"\uFFFD\"}\n");
  EXPECT_EQ(RepairJson("[\"\\\"\n\"]"), "[\"\\\"\\u000a\"]");
  EXPECT_EQ(RepairJson("\"\\"), "\"\\");
  EXPECT_EQ(RepairJson("\x1F[\"a b\x1F\x10\x01\x7F\"]\x1F"),
            "\x1F[\"a b\\u001f\\u0010\\u0001\x7F\"]\x1F");
  // A backslash outside of a string escapes nothing.
  EXPECT_EQ(RepairJson("[\\\"a\nb\"\n]"), "[\\\"a\\u000ab\"\n]");
}

}  // namespace
}  // namespace kymo::chrome_import
