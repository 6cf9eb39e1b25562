#include "profiler/text/utf8.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "profiler/text/visible_text.h"

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

TEST(VisibleTextTest, ControlCharactersBecomeVisible) {
  EXPECT_EQ(VisibleText("a\x1b[2J"), "a\\x1b[2J");
  EXPECT_EQ(VisibleText("two\nlines\tof\r\x7f\a"),
            "two\\nlines\\tof\\r\\x7f\\x07");
  EXPECT_EQ(VisibleText("\0"sv), "\\x00");
  // U+009B begins an escape sequence, too; U+00A0 does not.
  EXPECT_EQ(VisibleText("\u009b2J\u00a0"), "\\u009b2J\u00a0");
  EXPECT_EQ(VisibleText("\xC2"), "\xC2");
}

TEST(VisibleTextTest, OtherTextStays) {
  EXPECT_EQ(VisibleText("λ→😀 \"a\\b\""), "λ→😀 \"a\\b\"");
  EXPECT_EQ(VisibleLines("a\tb\nc\x1b\r"), "a\tb\nc\\x1b\\r");
}

}  // namespace
}  // namespace kymo::json
