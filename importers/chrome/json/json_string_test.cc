// Also whole values, as simdjson's text.
#include "importers/chrome/json/json_string.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "importers/chrome/json/json_value.h"

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

// "KIND:TEXT" of the value at the beginning of a list, or "error".
std::string Value(std::string_view json) {
  simdjson::ondemand::parser parser;
  simdjson::padded_string list("[" + std::string(json) + ", 1]");
  simdjson::ondemand::document document;
  simdjson::ondemand::array array;
  if (parser.iterate(list).get(document) != simdjson::SUCCESS ||
      document.get_array().get(array) != simdjson::SUCCESS) {
    return "no JSON";
  }
  for (auto element : array) {
    JsonValue value;
    simdjson::ondemand::value found;
    if (element.get(found) != simdjson::SUCCESS || !ReadValue(found, value)) {
      return "error";
    }
    const std::string kind = value.is_string() ? "string:"
                             : value.kind == JsonValue::Kind::kNested
                                 ? "nested:"
                                 : "scalar:";
    return kind + std::string(value.text);
  }
  return "empty";
}

TEST(JsonValueTest, EachKindKeepsItsText) {
  EXPECT_EQ(Value(R"("a\"b" )"), R"(string:a\"b)");
  EXPECT_EQ(Value(R"("")"), "string:");
  EXPECT_EQ(Value("\"x\"\n\t\r "), "string:x");
  EXPECT_EQ(Value("-1.5e3 \n"), "scalar:-1.5e3");
  for (const char* const text :
       {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "true", "false",
        "null", "NaN", "Infinity"}) {
    EXPECT_EQ(Value(text), "scalar:" + std::string(text));
  }
  EXPECT_EQ(Value(R"({"a": [1, 2]}  )"), R"(nested:{"a": [1, 2]})");
  EXPECT_EQ(Value("[1, {}] "), "nested:[1, {}]");
  EXPECT_EQ(Value("{}"), "nested:{}");
  EXPECT_EQ(Value("[]"), "nested:[]");
}

TEST(JsonValueTest, WhatIsNoValueIsAnError) {
  for (const char* const text : {"@", "x", "'a'", "+1", ".5", ")"}) {
    EXPECT_EQ(Value(text), "error") << text;
  }
}

TEST(JsonValueTest, NumbersMayBeInQuotes) {
  using Kind = JsonValue::Kind;
  for (const Kind kind : {Kind::kScalar, Kind::kString}) {
    EXPECT_EQ((JsonValue{.kind = kind, .text = "7"}).Int(), 7);
    EXPECT_EQ((JsonValue{.kind = kind, .text = "7.5"}).TimeNs(), 7500);
  }
  EXPECT_EQ((JsonValue{.kind = Kind::kNested, .text = "7"}).Int(),
            std::nullopt);
  EXPECT_EQ((JsonValue{.kind = Kind::kNested, .text = "7"}).TimeNs(),
            std::nullopt);
}

TEST(JsonValueTest, KeysKeepTheirEscapes) {
  simdjson::ondemand::parser parser;
  simdjson::padded_string text(
      std::string_view(R"({"": 1, "a\"b\\": 2, "\n": 3, "c": 4})"));
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  ASSERT_EQ(parser.iterate(text).get(document), simdjson::SUCCESS);
  ASSERT_EQ(document.get_object().get(object), simdjson::SUCCESS);
  std::string keys;
  for (auto member : object) {
    simdjson::ondemand::field field;
    ASSERT_EQ(std::move(member).get(field), simdjson::SUCCESS);
    keys += std::string(KeyText(field.key())) + "|";
  }
  EXPECT_EQ(keys, R"(|a\"b\\|\n|c|)");
}

// Keys are read eight bytes at a time.
TEST(JsonValueTest, AKeyEndsAtItsQuoteWhereverThatIs) {
  simdjson::ondemand::parser parser;
  for (size_t before = 0; before < 20; ++before) {
    for (const std::string_view escape : {"", "\\\"", "\\\\", "\xC3\xA9"}) {
      for (size_t after = 0; after < 10; ++after) {
        const std::string key = std::string(before, '!') + std::string(escape) +
                                std::string(after, '[');
        const simdjson::padded_string text("{\"" + key + "\":\"\\\\\"}");
        simdjson::ondemand::document document;
        simdjson::ondemand::object object;
        ASSERT_EQ(parser.iterate(text).get(document), simdjson::SUCCESS);
        ASSERT_EQ(document.get_object().get(object), simdjson::SUCCESS);
        for (auto member : object) {
          simdjson::ondemand::field field;
          ASSERT_EQ(std::move(member).get(field), simdjson::SUCCESS);
          EXPECT_EQ(KeyText(field.key()), key);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kymo::chrome_import
