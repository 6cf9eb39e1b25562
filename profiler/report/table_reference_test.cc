// Compares tables that PyTorch printed with ours, made from PyTorch's own
// numbers.
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/report/table.h"

namespace kymo::report {
namespace {

std::string ReadFile(const std::string& name) {
  std::ifstream in("profiler/report/testdata/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) {
    cells.push_back(cell);
  }
  return cells;
}

// Each line has one row. profiler/report/testdata/README.md describes the
// cells.
std::vector<TableRow> ReadRows(const std::string& name) {
  std::vector<TableRow> rows;
  std::istringstream in(ReadFile(name));
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells = Split(line + "\tend");
    cells.pop_back();
    TableRow& row = rows.emplace_back();
    row.key = cells[0];
    row.count = std::stoll(cells[1]);
    row.cpu_time_total_us = std::stod(cells[2]);
    row.self_cpu_time_total_us = std::stod(cells[3]);
    row.cpu_memory_usage_bytes = std::stoll(cells[4]);
    row.self_cpu_memory_usage_bytes = std::stoll(cells[5]);
    row.flops = std::stod(cells[6]);
    row.is_async = cells[7] == "1";
    row.is_user_annotation = cells[8] == "1";
    row.input_shapes = cells[9];
    row.stack.assign(cells.begin() + 10, cells.end());
  }
  return rows;
}

struct Case {
  std::string name;  // key_averages.<call>
  std::string averages;
  TableOptions options;
};

TableOptions SortBy(const std::string& key, int row_limit) {
  TableOptions options;
  options.sort_by = key;
  options.row_limit = row_limit;
  return options;
}

std::vector<Case> CommonCases() {
  TableOptions narrow = SortBy("cpu_time_total", 5);
  narrow.max_name_column_width = 20;
  narrow.header = "A header line";
  TableOptions in_ms = SortBy("cpu_time_total", 6);
  in_ms.time_unit = "ms";
  return {
      {"default", "key_averages", {}},
      {"self_cpu_time_total", "key_averages",
       SortBy("self_cpu_time_total", 10)},
      {"cpu_time", "key_averages", SortBy("cpu_time", 10)},
      {"count", "key_averages", SortBy("count", 10)},
      {"narrow", "key_averages", narrow},
      {"time_unit_ms", "key_averages", in_ms},
      {"by_shape", "key_averages.by_shape", SortBy("self_cpu_time_total", 15)},
  };
}

void Check(const std::string& folder, Case c) {
  const auto text =
      FormatTable(ReadRows(folder + "/" + c.averages + ".tsv"), c.options);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, ReadFile(folder + "/table.key_averages." + c.name + ".txt"))
      << folder << " " << c.name;
}

TEST(TableReferenceTest, TrainingWithMemoryAndFlops) {
  std::vector<Case> cases = CommonCases();
  cases.push_back(
      {"cpu_memory_usage", "key_averages", SortBy("cpu_memory_usage", 15)});
  for (Case& c : cases) {
    c.options.profile_memory = true;
    c.options.with_flops = true;
    Check("mlp_train", c);
  }
}

TEST(TableReferenceTest, InferenceWithStacksAndFlops) {
  std::vector<Case> cases = CommonCases();
  cases.push_back({"by_stack5", "key_averages.by_stack5",
                   SortBy("self_cpu_time_total", 15)});
  for (Case& c : cases) {
    c.options.with_flops = true;
    Check("conv_infer", c);
  }
}

}  // namespace
}  // namespace kymo::report
