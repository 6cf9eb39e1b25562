#include "profiler/text/markdown_cell.h"

#include <gtest/gtest.h>

namespace kymo {
namespace {

TEST(MarkdownCellTest, NobodyIsMentioned) {
  EXPECT_EQ(MarkdownCell("@all #1 $x$ a|b 5 %"),
            "<span>@</span>all <span>#</span>1 <span>$</span>x<span>$</span> "
            "a\\|b 5 %");
}

TEST(MarkdownCellTest, NamesOfCppAreText) {
  EXPECT_EQ(MarkdownCell("vector<int>"), "vector\\<int\\>");
  EXPECT_EQ(MarkdownCell("a\\|b"), "a\\\\\\|b");
}

}  // namespace
}  // namespace kymo
