#include "importers/chrome/json/value_scanner.h"

#include <string>

#include <gtest/gtest.h>

namespace kymo::chrome_import {
namespace {

constexpr size_t kNone = std::string_view::npos;

TEST(ValueScannerTest, FindsTheEndOfEveryKindOfValue) {
  EXPECT_EQ(FindValueEnd(R"({"a":[1,{"b":"}]"}]},{)"), 20u);
  EXPECT_EQ(FindValueEnd(R"("a\"b\\",1)"), 8u);
  EXPECT_EQ(FindValueEnd("-1.5e3,"), 6u);
  EXPECT_EQ(FindValueEnd("true}"), 4u);
  EXPECT_EQ(FindValueEnd("null \n"), 4u);
  EXPECT_EQ(FindValueEnd("[]"), 2u);
  EXPECT_EQ(FindValueEnd("}"), 0u);
}

TEST(ValueScannerTest, EverySeparatorEndsAWord) {
  for (const char c : std::string_view(",}]:{[\" \t\n\r")) {
    EXPECT_EQ(FindValueEnd(std::string("true") + c), 4u) << c;
  }
  for (const char c : std::string_view("-+.eE09azAZ_")) {
    EXPECT_EQ(FindValueEnd(std::string("t") + c + ","), 2u) << c;
  }
  EXPECT_EQ(FindValueEnd("]"), 0u);
  // Within lists and strings they end nothing.
  EXPECT_EQ(FindValueEnd("[t,t:t t]]"), 9u);
  EXPECT_EQ(FindValueEnd("\",}]:{[ \"}"), 9u);
  EXPECT_EQ(FindValueEnd("[\"]\",{}]]"), 8u);
}

TEST(ValueScannerTest, CountsSpaces) {
  EXPECT_EQ(CountSpace(" \n\t\rx "), 4u);
  EXPECT_EQ(CountSpace("x"), 0u);
  EXPECT_EQ(CountSpace(""), 0u);
  EXPECT_EQ(CountSpace("   "), 3u);
  EXPECT_EQ(CountSpace(std::string_view("    ").substr(0, 2)), 2u);
  for (const char c : std::string_view("\v\f\b\0\x1f!", 6)) {
    EXPECT_FALSE(IsJsonSpace(c)) << int{c};
  }
}

TEST(ValueScannerTest, SaysWhatDoesNotEnd) {
  for (const char* const text :
       {"", "{", "[1,2", "\"abc", "\"abc\\\"", "{\"a\":\"}", "123"}) {
    EXPECT_EQ(FindValueEnd(text), kNone) << text;
  }
}

TEST(ValueScannerTest, GoesOnWhereTheTextWasCut) {
  const std::string text = R"({"a\\":["x\"]",[{}]],"b":-1},)";
  for (size_t cut = 0; cut + 1 < text.size(); ++cut) {
    ValueScanner scanner;
    size_t bytes = scanner.Scan(std::string_view(text).substr(0, cut));
    ASSERT_EQ(bytes, cut);
    bytes += scanner.Scan(std::string_view(text).substr(cut));
    EXPECT_TRUE(scanner.done());
    EXPECT_EQ(bytes, text.size() - 1);
  }
}

TEST(ValueScannerTest, DepthCostsNothing) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(FindValueEnd(deep), kNone);
  EXPECT_EQ(FindValueEnd(deep + std::string(1'000'000, ']')), 2'000'000u);
}

TEST(ValueScannerTest, ElementsEndWhereAnotherOneBegins) {
  const std::string_view text = "{\"a\":{}},\n {\"b\":1} , { \"c\":2},{}";
  EXPECT_EQ(FindElementEnd(text, 0), 8u);
  EXPECT_EQ(FindElementEnd(text, 9), 18u);
  EXPECT_EQ(FindElementEnd(text, 19), kNone);
  EXPECT_EQ(FindLastElementEnd(text), 18u);
  EXPECT_EQ(FindLastElementEnd("}"), kNone);
  EXPECT_EQ(FindLastElementEnd(""), kNone);
  EXPECT_EQ(FindLastElementEnd("},{\"a\":{}}"), 1u);
}

TEST(ValueScannerTest, WhatIsNotFollowedByAnElementIsNoEnd) {
  EXPECT_EQ(FindElementEnd("},{\"", 0), 1u);
  EXPECT_EQ(FindElementEnd("x},{\"", 1), 2u);
  for (const char* const text :
       {"}{\"", "},\"", "},[\"", "},{a", "},{}", "},,{\"", "}]{\"", "},{ }",
        "}", "},", "},{", "} ", "}, ", "},{ "}) {
    EXPECT_EQ(FindElementEnd(text, 0), kNone) << text;
    EXPECT_EQ(FindLastElementEnd(text), kNone) << text;
  }
  const std::string_view text = "},{\"";
  for (const size_t size : {1u, 2u, 3u}) {
    EXPECT_EQ(FindElementEnd(text.substr(0, size), 0), kNone) << size;
  }
}

// As many spaces as are skipped at each place, and one more.
TEST(ValueScannerTest, FewSpacesStandBetweenElements) {
  const std::string most(255, ' ');
  EXPECT_EQ(FindElementEnd("}" + most + "," + most + "{" + most + "\"", 0), 1u);
  EXPECT_EQ(FindElementEnd("} " + most + ",{\"", 0), kNone);
  EXPECT_EQ(FindElementEnd("}, " + most + "{\"", 0), kNone);
  EXPECT_EQ(FindElementEnd("},{ " + most + "\"", 0), kNone);
}

}  // namespace
}  // namespace kymo::chrome_import
