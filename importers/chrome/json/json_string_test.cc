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
}

}  // namespace
}  // namespace kymo::chrome_import
