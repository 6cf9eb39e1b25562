#include "profiler/text/json_text.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "profiler/text/json_check.h"
#include "profiler/text/json_writer.h"

namespace kymo::json {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

std::string Double(double value) {
  std::string out;
  AppendDouble(out, value);
  return out;
}

std::string Microseconds(DurationNs ns) {
  std::string out;
  AppendMicroseconds(out, ns);
  return out;
}

TEST(JsonTextTest, ReplaysTheExample) {
  std::string out = "{\"name\":";
  AppendJsonString(out, "aten::add");
  out += ",\"ts\":";
  AppendMicroseconds(out, 1'234'567);
  EXPECT_EQ(out + "}", "{\"name\":\"aten::add\",\"ts\":1234.567}");
}

TEST(JsonTextTest, EscapesWhatMustBe) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(Quoted("\n\t\r\b\f"), R"("\n\t\r\u0008\u000c")");
  EXPECT_EQ(Quoted(std::string_view("\0\x1f\x7f", 3)),
            R"("\u0000\u001f\u007f")");
  EXPECT_EQ(Quoted("λ→😀"), "\"λ→😀\"");
}

TEST(JsonTextTest, ListsStrings) {
  EXPECT_EQ(JsonStringList({}), "[]");
  const std::string texts[] = {"float", "", "\""};
  EXPECT_EQ(JsonStringList(texts), R"(["float", "", "\""])");
  EXPECT_EQ(JsonStringList(texts, ","), R"(["float","","\""])");
}

TEST(JsonTextTest, ReplacesWhatIsNotUtf8) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(Quoted("a\xFF"
                   "b"),
            "\"a" + r + "b\"");
  EXPECT_EQ(Quoted("\xC3"), "\"" + r + "\"");
  EXPECT_EQ(Quoted("\xE2\x82"), "\"" + r + "\"");              // cut short: one
  EXPECT_EQ(Quoted("\xC0\x80"), "\"" + r + r + "\"");          // overlong
  EXPECT_EQ(Quoted("\xED\xA0\x80"), "\"" + r + r + r + "\"");  // surrogate
  EXPECT_EQ(Quoted("\xF4\x90\x80\x80"),
            "\"" + r + r + r + r + "\"");  // beyond U+10FFFF
  EXPECT_EQ(Quoted("\xF0\x9F\x98\"x"), "\"" + r + "\\\"x\"");
}

TEST(JsonTextTest, Numbers) {
  std::string out;
  AppendInt(out, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(out, "-9223372036854775808");
  out.clear();
  AppendUint(out, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(out, "18446744073709551615");
  EXPECT_EQ(Double(2), "2");
  EXPECT_EQ(Double(0.1), "0.1");
  EXPECT_EQ(Double(1e300), "1e+300");
  EXPECT_EQ(Double(std::nan("")), "\"NaN\"");
  EXPECT_EQ(Double(INFINITY), "\"Infinity\"");
  EXPECT_EQ(Double(-INFINITY), "\"-Infinity\"");
}

TEST(JsonTextTest, MicrosecondsByIntegerArithmetic) {
  EXPECT_EQ(Microseconds(0), "0.000");
  EXPECT_EQ(Microseconds(5), "0.005");
  EXPECT_EQ(Microseconds(1'234'567), "1234.567");
  EXPECT_EQ(Microseconds(-1'500), "-1.500");
  EXPECT_EQ(Microseconds(std::numeric_limits<int64_t>::max()),
            "9223372036854775.807");
  EXPECT_EQ(Microseconds(std::numeric_limits<int64_t>::min()),
            "-9223372036854775.808");
}

TEST(JsonTextTest, AcceptsJsonAndNothingElse) {
  for (const char* good :
       {"0", "-1.5e+3", "\"\"", "true", "null", " [ ] ", "[1, [2], {}]",
        R"({"a": {"b": "\u00e9\n"}, "c": [false]})", "\"λ\"", "1E5"}) {
    EXPECT_TRUE(IsValidJson(good)) << good;
  }
  for (const char* bad :
       {"",      " ",       "01",     "1.",       ".5",          "+1",
        "-",     "1e",      "NaN",    "nul",      "[1,]",        "{\"a\":1,}",
        "{a:1}", "[1 2]",   "\"\t\"", "\"\\x\"",  "\"\\u12g4\"", "\"open",
        "[",     "{\"a\"}", "1 1",    "\"\xFF\"", "'a'"}) {
    EXPECT_FALSE(IsValidJson(bad)) << bad;
  }
  EXPECT_TRUE(IsValidJson(std::string(400, '[') + std::string(400, ']')));
  EXPECT_FALSE(IsValidJson(std::string(1'000'000, '[')));
}

TEST(JsonWriterTest, IndentsAndSeparates) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Member("name", "a\"b");
  json.Key("threads");
  json.BeginArray();
  json.Int(-1);
  json.Double(0.5);
  json.BeginObject();
  json.EndObject();
  json.EndArray();
  json.Member("ok", true);
  json.Key("raw");
  json.Raw("[1, 2]");
  json.EndObject();
  EXPECT_EQ(out, R"({
  "name": "a\"b",
  "threads": [
    -1,
    0.5,
    {}
  ],
  "ok": true,
  "raw": [1, 2]
}
)");
}

TEST(JsonTextTest, EachRuleOfTheGrammarHoldsOnBothSides) {
  for (const char* good :
       {"-0", "0.5", "10.25", "0e0", "1e-7", "1E+7", "false", "[]", "{}",
        "[ 1 , 2 ]", "{ \"a\" : 1 , \"b\" : 2 }", "\t\n\r 1 \t\n\r ",
        R"("\"\\\/\b\f\n\r\t")", R"("\u09afAF")", "\" \x7f\""}) {
    EXPECT_TRUE(IsValidJson(good)) << good;
  }
  for (const char* bad : {"-",
                          "--1",
                          "00",
                          "-01",
                          "0.",
                          "1.e5",
                          "1e",
                          "1e+",
                          "1e+-5",
                          "e5",
                          "tru",
                          "fals",
                          "trueish",
                          "nulls",
                          "[,]",
                          "[1,,2]",
                          "[1}",
                          "{]",
                          "]",
                          "{\"a\":}",
                          "{\"a\" 1}",
                          "{1:2}",
                          "{\"a\":1 \"b\":2}",
                          "{\"a\":1,}",
                          "{,}",
                          "\"\\",
                          "\"\\\"",
                          "\"\\u123\"",
                          "\"\\u\"",
                          "\"\\u123",
                          "\"\x1f\"",
                          "\"\xC3\"",
                          "\v1",
                          "1\f"}) {
    EXPECT_FALSE(IsValidJson(bad)) << bad;
  }
}

TEST(JsonTextTest, FiveHundredLevelsAreRead) {
  const auto nested = [](size_t levels, const std::string& open,
                         const std::string& close) {
    std::string text;
    for (size_t i = 0; i < levels; ++i) text += open;
    text += "1";
    for (size_t i = 0; i < levels; ++i) text += close;
    return text;
  };
  EXPECT_TRUE(IsValidJson(nested(500, "[", "]")));
  EXPECT_FALSE(IsValidJson(nested(501, "[", "]")));
  EXPECT_TRUE(IsValidJson(nested(500, "{\"a\":", "}")));
  EXPECT_FALSE(IsValidJson(nested(501, "{\"a\":", "}")));
}

TEST(JsonTextTest, TextsThatAreNoJsonAreStrings) {
  std::string out;
  AppendJsonOrString(out, "[1, 2]");
  AppendJsonOrString(out, "[1, 2");
  EXPECT_EQ(out, "[1, 2]\"[1, 2\"");
  EXPECT_EQ(JsonString("a\"b"), R"("a\"b")");
}

TEST(JsonTextTest, EveryControlCharacterIsEscaped) {
  for (int byte = 0; byte < 0x80; ++byte) {
    const std::string quoted = Quoted(std::string(1, static_cast<char>(byte)));
    const bool is_plain =
        byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7F;
    EXPECT_EQ(quoted.size() == 3, is_plain) << byte;
    EXPECT_TRUE(IsValidJson(quoted)) << byte;
  }
  EXPECT_EQ(Quoted("\x10\x0f"), R"("\u0010\u000f")");
}

TEST(JsonWriterTest, WritesEveryKindOfValue) {
  std::string out;
  JsonWriter json(out);
  json.BeginArray();
  json.Uint(std::numeric_limits<uint64_t>::max());
  json.Bool(false);
  json.String("s");
  json.BeginArray();
  json.EndArray();
  json.EndArray();
  EXPECT_EQ(out, "[\n  18446744073709551615,\n  false,\n  \"s\",\n  []\n]\n");
}

TEST(JsonCheckTest, ErrorsQuoteTheTextsBeginning) {
  EXPECT_TRUE(CheckJson("{\"a\": [1, 2]}").ok());
  const auto message = [](std::string_view text) {
    const absl::Status status = CheckJson(text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    const std::string all(status.message());
    return all.substr(0, all.find(" is not JSON: "));
  };
  EXPECT_EQ(message("[1, 2"), "'[1, 2'");
  EXPECT_EQ(message(std::string(80, 'x')), "'" + std::string(80, 'x') + "'");
  EXPECT_EQ(message(std::string(81, 'x')), "'" + std::string(80, 'x') + "...'");
}

}  // namespace
}  // namespace kymo::json
