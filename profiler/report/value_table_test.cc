#include "profiler/report/value_table.h"

#include <algorithm>
#include <string>
#include <utility>

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
      "Memcpy HtoD      4.00 KiB       1.500us        12.50%    12.50 GB/s  "
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

TEST(ValueTableTest, NumbersTakeTheirUnitsWhateverTheirType) {
  const auto cell = [](Unit unit, Value value,
                       const ValueTableOptions& options = {}) {
    const std::string text = FormatValueTable(
        {.columns = {{"a", "A", unit}}, .rows = {{std::move(value)}}}, options);
    const std::string row = text.substr(text.find('\n') * 3 + 3);
    const std::string line = row.substr(0, row.find('\n'));
    const size_t begin = line.find_first_not_of(' ');
    return line.substr(begin, line.find_last_not_of(' ') - begin + 1);
  };
  EXPECT_EQ(cell(Unit::kNs, int64_t{2'500'000}), "2.500ms");
  EXPECT_EQ(cell(Unit::kNs, 2'500.0), "2.500us");
  EXPECT_EQ(cell(Unit::kNs, int64_t{2'500'000}, {.time_unit = "us"}),
            "2500.000us");
  EXPECT_EQ(cell(Unit::kBytes, 2'048.0), "2.00 KiB");
  EXPECT_EQ(cell(Unit::kNumber, int64_t{3}), "3.00");
  EXPECT_EQ(cell(Unit::kShare, 1.5), "150.00%");
  EXPECT_EQ(cell(Unit::kBytesPerSecond, int64_t{2'500'000'000}), "2.50 GB/s");
  EXPECT_EQ(cell(Unit::kCount, 2.0), "2");
  EXPECT_EQ(cell(Unit::kText, int64_t{17}), "17");
  EXPECT_EQ(cell(Unit::kText, std::string(56, 'x')),
            std::string(52, 'x') + "...");
  EXPECT_EQ(cell(Unit::kText, std::string(55, 'x')).size(), 55u);
}

TEST(ValueTableTest, TheLimitOfRowsIsExact) {
  const ValueTable table{.columns = {{"n", "N", Unit::kText}},
                         .rows = {{std::string("a")}, {std::string("b")}}};
  const auto lines = [&](int limit) {
    const std::string text = FormatValueTable(table, {.row_limit = limit});
    return std::count(text.begin(), text.end(), '\n');
  };
  // Three rules and the titles are lines, too.
  EXPECT_EQ(lines(-1), 4 + 2);
  EXPECT_EQ(lines(0), 4);
  EXPECT_EQ(lines(1), 4 + 1);
  EXPECT_EQ(lines(2), 4 + 2);
  EXPECT_EQ(lines(3), 4 + 2);
}

}  // namespace
}  // namespace kymo::report
