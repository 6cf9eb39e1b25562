#include "profiler/text/visible_text.h"

#include <gtest/gtest.h>

#include <string>

namespace kymo {
namespace {

TEST(VisibleTextTest, ControlCharactersBecomeVisible) {
  EXPECT_EQ(VisibleText("a\x1b[2J\a"), "a\\x1b[2J\\x07");
  EXPECT_EQ(VisibleText("\n\t\r"), "\\n\\t\\r");
  EXPECT_EQ(VisibleText(std::string(1, '\0')), "\\x00");
  // The first and the last of each range, and their neighbours.
  EXPECT_EQ(VisibleText("\x01\x1f ~\x7f"), "\\x01\\x1f ~\\x7f");
  EXPECT_EQ(VisibleText("\u0080\u0085\u009F\u00A0"),
            "\\u0080\\u0085\\u009f\u00A0");
}

TEST(VisibleTextTest, AllElseStays) {
  EXPECT_EQ(VisibleText(""), "");
  EXPECT_EQ(VisibleText("r\u00E9sum\u00E9 \u4E2D \U0001F600"),
            "r\u00E9sum\u00E9 \u4E2D \U0001F600");
  EXPECT_EQ(VisibleText("\u03BB \"a\\b\""), "\u03BB \"a\\b\"");
}

TEST(VisibleTextTest, BytesThatAreNotUtf8BecomeVisible) {
  EXPECT_EQ(VisibleText("\xff\xc3\x90\x9b"), "\\xff\u00D0\\x9b");
  // Characters that are cut: in the text, and at its end.
  EXPECT_EQ(VisibleText("\xc2 \xe4\xb8"), "\\xc2 \\xe4\\xb8");
  EXPECT_EQ(VisibleLines("\xc2\n\xfe"), "\\xc2\n\\xfe");
}

TEST(VisibleTextTest, LinesKeepTheirFeedsAndTabs) {
  EXPECT_EQ(VisibleLines("a\tb\nc\r\x1b\u009B"), "a\tb\nc\\r\\x1b\\u009b");
}

TEST(VisibleTextTest, TellsHowLongAControlCharacterIs) {
  EXPECT_EQ(ControlBytes("a\n", 0), 0u);
  EXPECT_EQ(ControlBytes("a\n", 1), 1u);
  EXPECT_EQ(ControlBytes("\u009B", 0), 2u);
  EXPECT_EQ(ControlBytes("\u00A0", 0), 0u);
  EXPECT_EQ(ControlBytes("\xc2", 0), 0u);
}

}  // namespace
}  // namespace kymo
