#include "profiler/text/utf8.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace kymo::json {
namespace {

using std::string_view_literals::operator""sv;

std::string Utf8(std::string_view text) {
  std::string scratch;
  return std::string(ToUtf8(text, scratch));
}

TEST(Utf8Test, ReplaysTheExample) {
  EXPECT_EQ(Utf8("\xFF a"), "\xEF\xBF\xBD a");
}

TEST(Utf8Test, ValidTextIsNotCopied) {
  constexpr auto text = "\0 quo\"te \x7f λ→😀 \xF4\x8F\xBF\xBF"sv;
  std::string scratch;
  EXPECT_EQ(ToUtf8(text, scratch).data(), text.data());
  EXPECT_EQ(Utf8(""), "");
}

TEST(Utf8Test, BrokenSequencesBecomeOneReplacementEach) {
  // The Unicode standard's example of maximal subparts.
  EXPECT_EQ(Utf8("a\xF1\x80\x80\xE1\x80\xC2"
                 "b\x80"
                 "c"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc");
  EXPECT_EQ(Utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(Utf8("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(Utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(Utf8("λ\xC3"), "λ\uFFFD");  // ends too early
}

// What a sequence means by the definition of UTF-8: its bits, which must be the
// shortest form of a code point that is no surrogate.
bool IsOneCodePoint(const std::string& bytes) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(bytes[i]);
  };
  const size_t length = (byte(0) & 0xE0) == 0xC0   ? 2
                        : (byte(0) & 0xF0) == 0xE0 ? 3
                        : (byte(0) & 0xF8) == 0xF0 ? 4
                                                   : 0;
  if (length != bytes.size()) return false;
  uint32_t code = byte(0) & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return false;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  return code >= least && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

TEST(Utf8Test, SequencesAreThoseOfTheDefinition) {
  for (int lead = 0x80; lead < 0x100; ++lead) {
    for (int second = 0; second < 0x100; ++second) {
      for (const std::string_view rest :
           {""sv, "\x80"sv, "\xBF"sv, "\x7F"sv, "\xC0"sv, "\x80\x80"sv,
            "\xBF\xBF"sv, "\x80\x7F"sv, "\x80\xC0"sv}) {
        std::string bytes = {static_cast<char>(lead),
                             static_cast<char>(second)};
        bytes += rest;
        const Utf8Part part = ReadUtf8(bytes);
        const bool is_valid = IsOneCodePoint(bytes.substr(0, 2)) ||
                              IsOneCodePoint(bytes.substr(0, 3)) ||
                              IsOneCodePoint(bytes.substr(0, 4));
        ASSERT_EQ(part.is_valid, is_valid) << lead << " " << second;
        if (is_valid) {
          ASSERT_TRUE(IsOneCodePoint(bytes.substr(0, part.length)));
        }
      }
    }
  }
  EXPECT_EQ(ReadUtf8("\xC3").length, 1u);
  EXPECT_EQ(ReadUtf8("\xE2\x82").length, 2u);
  EXPECT_EQ(ReadUtf8("\xE2\x82\x41").length, 2u);
  EXPECT_EQ(ReadUtf8("\xF0\x9F\x98").length, 3u);
  EXPECT_EQ(ReadUtf8("\xF0\x9F\x98\x41").length, 3u);
  EXPECT_EQ(ReadUtf8("\x80\x80").length, 1u);
}

TEST(Utf8Test, CodePointsAreAppended) {
  const auto append = [](uint32_t code) {
    std::string text = "a";
    AppendUtf8(text, code);
    return text;
  };
  EXPECT_EQ(append(0), "a\0"sv);
  EXPECT_EQ(append('b'), "ab");
  EXPECT_EQ(append(0x7F), "a\x7F");
  EXPECT_EQ(append(0x80), "a\u0080");
  EXPECT_EQ(append(0x7FF), "a\u07FF");
  EXPECT_EQ(append(0x800), "a\u0800");
  EXPECT_EQ(append(0xD7FF), "a\uD7FF");
  EXPECT_EQ(append(0xE000), "a\uE000");
  EXPECT_EQ(append(0xFFFF), "a\uFFFF");
  EXPECT_EQ(append(0x10000), "a\U00010000");
  EXPECT_EQ(append(0x1F600), "a😀");
  EXPECT_EQ(append(0x10FFFF), "a\U0010FFFF");
  for (const uint32_t none : {0xD800u, 0xDFFFu, 0x110000u, ~0u}) {
    EXPECT_EQ(append(none), "a\uFFFD") << none;
  }
}

}  // namespace
}  // namespace kymo::json
