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
}

}  // namespace
}  // namespace kymo::chrome_import
