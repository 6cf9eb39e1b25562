#include "profiler/report/value_table.h"

#include "gtest/gtest.h"

namespace kymo::report {
namespace {

TEST(ValueTableTest, ShowsValuesByTheirUnit) {
  ValueTable table{.columns = {{"direction", "Direction", Unit::kText},
                               {"bytes", "Bytes", Unit::kBytes},
                               {"total_ns", "Total", Unit::kNs},
                               {"share", "Share", Unit::kShare},
                               {"rate", "Rate", Unit::kBytesPerSecond},
                               {"mean", "Mean", Unit::kNumber},
                               {"count", "#", Unit::kCount}},
                   .rows = {}};
  table.rows.push_back({std::string("Memcpy HtoD"), int64_t{4096},
                        int64_t{1500}, 0.125, 12.5e9, 2.345, int64_t{7}});
  table.rows.push_back({std::string("Memset"), {}, {}, {}, {}, {}, int64_t{1}});
  EXPECT_EQ(
      FormatValueTable(table, {}),
      "-----------  ------------  ------------  ------------  ------------  "
      "------------  ------------  \n"
      "Direction           Bytes         Total         Share          Rate  "
      "        Mean             #  \n"
      "-----------  ------------  ------------  ------------  ------------  "
      "------------  ------------  \n"
      "Memcpy HtoD       4.00 KB       1.500us        12.50%    12.50 GB/s  "
      "        2.35             7  \n"
      "Memset                 --            --            --            --  "
      "          --             1  \n"
      "-----------  ------------  ------------  ------------  ------------  "
      "------------  ------------  \n");
}

TEST(ValueTableTest, RowsAndTextsAreCut) {
  ValueTable table{.columns = {{"name", "Name", Unit::kText}},
                   .rows = {{std::string("abcdefghijkl")},
                            {std::string("short")},
                            {std::string("not shown")}}};
  EXPECT_EQ(
      FormatValueTable(table, {.row_limit = 2, .max_text_width = 10}),
      "----------  \nName        \n----------  \nabcdefg...  \nshort       \n"
      "----------  \n");
}

TEST(ValueTableTest, ATableWithoutRowsIsNoText) {
  EXPECT_EQ(
      FormatValueTable({.columns = {{"a", "A", Unit::kText}}, .rows = {}}, {}),
      "");
}

}  // namespace
}  // namespace kymo::report
