#include "profiler/report/fitted_table.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/text/text_cells.h"

namespace kymo::report {
namespace {

FittedTable MakeTable() {
  return {.columns = {{.title = "Name", .fit = Fit::kName},
                      {.title = "Self CPU %"},
                      {.title = "Calls", .drop = 2},
                      {.title = "Module", .fit = Fit::kText, .drop = 1}},
          .rows = {{.cells = {"std::vector<int, Pool<int>>::push_back(int&&)",
                              "60.00%", "12", "libwork.so.1"},
                    .share = 0.6},
                   {.cells = {"main", "0.50%", "1", "work"}, .share = 0.005}}};
}

TEST(FittedTableTest, WhatFitsStaysWhole) {
  EXPECT_EQ(
      FormatFittedTable(MakeTable(), {.width = 80}),
      "Name                                           Self CPU %  Calls  "
      "Module\n"
      "---------------------------------------------  ----------  -----  "
      "------------\n"
      "std::vector<int, Pool<int>>::push_back(int&&)      60.00%     12  "
      "libwork.so.1\n"
      "main                                                0.50%      1  work"
      "\n");
}

TEST(FittedTableTest, NamesShrinkAsLongAsThereIsRoom) {
  EXPECT_EQ(FormatFittedTable(MakeTable(), {.width = 63}),
            "Name                            Self CPU %  Calls  Module\n"
            "------------------------------  ----------  -----  ------------\n"
            "std::vector<...>::push_back         60.00%     12  libwork.so.1\n"
            "main                                 0.50%      1  work\n");
}

TEST(FittedTableTest, ThenColumnsGoInTheirOrder) {
  const std::string no_calls = FormatFittedTable(MakeTable(), {.width = 60});
  EXPECT_EQ(no_calls.find("Calls"), std::string::npos);
  EXPECT_NE(no_calls.find("libwork.so.1"), std::string::npos);
  const std::string no_module = FormatFittedTable(MakeTable(), {.width = 44});
  EXPECT_EQ(no_module.find("Module"), std::string::npos);
  EXPECT_NE(no_module.find("60.00%"), std::string::npos);
}

TEST(FittedTableTest, NoLineIsWiderThanAsked) {
  for (size_t width = 16; width < 120; ++width) {
    const std::string text = FormatFittedTable(MakeTable(), {.width = width});
    size_t begin = 0;
    while (begin < text.size()) {
      const size_t end = text.find('\n', begin);
      EXPECT_LE(TextWidth(text.substr(begin, end - begin)), width);
      EXPECT_NE(text[end - 1], ' ');
      begin = end + 1;
    }
  }
}

TEST(FittedTableTest, WhatMustStayStaysWhereNothingFits) {
  EXPECT_EQ(FormatFittedTable(MakeTable(), {.width = 1}),
            "Name  Self CPU %\n"
            "----  ----------\n"
            "...k      60.00%\n"
            "main       0.50%\n");
}

TEST(FittedTableTest, ColorShowsTheShare) {
  const std::string text =
      FormatFittedTable(MakeTable(), {.width = 80, .color = true});
  EXPECT_EQ(text.find("\033[1mName"), 0u);
  EXPECT_NE(text.find("\n\033[31mstd::"), std::string::npos);
  EXPECT_NE(text.find("libwork.so.1\033[0m\n"), std::string::npos);
  EXPECT_NE(text.find("\n\033[2mmain"), std::string::npos);
}

TEST(FittedTableTest, WithoutRowsThereIsNoText) {
  FittedTable table = MakeTable();
  table.rows.clear();
  EXPECT_EQ(FormatFittedTable(table, {}), "");
}

// Widths: 45, 10, 5 and 12, with two blanks between them.
TEST(FittedTableTest, EachWidthIsUsedToItsEnd) {
  const auto titles = [](size_t width) {
    const std::string text = FormatFittedTable(MakeTable(), {.width = width});
    return text.substr(0, text.find('\n'));
  };
  const std::string name(45 - 4, ' ');
  EXPECT_EQ(titles(78), "Name" + name + "  Self CPU %  Calls  Module");
  EXPECT_EQ(titles(77),
            "Name" + name.substr(1) + "  Self CPU %  Calls  Module");
  // 30 is the least for a name; then the calls go, and their 7 come free.
  const std::string least(30 - 4, ' ');
  EXPECT_EQ(titles(63), "Name" + least + "  Self CPU %  Calls  Module");
  EXPECT_EQ(titles(62),
            "Name" + std::string(36 - 4, ' ') + "  Self CPU %  Module");
  EXPECT_EQ(titles(56), "Name" + least + "  Self CPU %  Module");
  EXPECT_EQ(titles(55), "Name" + std::string(43 - 4, ' ') + "  Self CPU %");
  EXPECT_EQ(titles(42), "Name" + least + "  Self CPU %");
  // What must stay does, and the name shrinks down to its title.
  EXPECT_EQ(titles(41), "Name" + least.substr(1) + "  Self CPU %");
  EXPECT_EQ(titles(16), "Name  Self CPU %");
  EXPECT_EQ(titles(15), "Name  Self CPU %");
}

TEST(FittedTableTest, ColorsChangeAtTenPercentAndAtOne) {
  const auto row = [](double share) {
    const FittedTable table = {.columns = {{.title = "N", .fit = Fit::kText}},
                               .rows = {{.cells = {"x"}, .share = share}}};
    const std::string text = FormatFittedTable(table, {.color = true});
    return text.substr(text.find("-\n") + 2);
  };
  EXPECT_EQ(row(0.10), "\033[31mx\033[0m\n");
  EXPECT_EQ(row(0.0999), "x\n");
  EXPECT_EQ(row(0.01), "x\n");
  EXPECT_EQ(row(0.0099), "\033[2mx\033[0m\n");
}

}  // namespace
}  // namespace kymo::report
