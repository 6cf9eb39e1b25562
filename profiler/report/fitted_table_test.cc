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

}  // namespace
}  // namespace kymo::report
