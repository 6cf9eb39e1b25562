// Tables that PyTorch printed against ours, from PyTorch's own numbers.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "profiler/report/table.h"

namespace kymo::report {
namespace {

std::string ReadFile(const std::string& name) {
  std::ifstream in("profiler/report/testdata/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// "[[64, 32], []]", as Python writes lists.
std::string ShapesText(const google::protobuf::Value& value) {
  if (value.has_string_value()) return value.string_value();
  if (!value.has_list_value()) {
    return std::to_string(static_cast<int64_t>(value.number_value()));
  }
  std::string text = "[";
  for (const auto& item : value.list_value().values()) {
    if (text.size() > 1) text += ", ";
    text += ShapesText(item);
  }
  return text + "]";
}

std::vector<TableRow> ReadRows(const std::string& name) {
  google::protobuf::ListValue list;
  EXPECT_TRUE(
      google::protobuf::util::JsonStringToMessage(ReadFile(name), &list).ok());
  std::vector<TableRow> rows;
  for (const auto& item : list.values()) {
    const auto& fields = item.struct_value().fields();
    const auto number = [&](const char* key) {
      return fields.at(key).number_value();
    };
    TableRow& row = rows.emplace_back();
    row.key = fields.at("key").string_value();
    row.count = static_cast<int64_t>(number("count"));
    row.cpu_time_total_us = number("cpu_time_total");
    row.self_cpu_time_total_us = number("self_cpu_time_total");
    row.cpu_memory_usage_bytes =
        static_cast<int64_t>(number("cpu_memory_usage"));
    row.self_cpu_memory_usage_bytes =
        static_cast<int64_t>(number("self_cpu_memory_usage"));
    row.flops = number("flops");
    row.is_async = fields.at("is_async").bool_value();
    row.is_user_annotation = fields.at("is_user_annotation").bool_value();
    row.input_shapes = ShapesText(fields.at("input_shapes"));
    for (const auto& entry : fields.at("stack").list_value().values()) {
      row.stack.push_back(entry.string_value());
    }
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
      {"by_shape", "key_averages.by_shape",
       SortBy("self_cpu_time_total", 15)},
  };
}

void Check(const std::string& folder, Case c) {
  const auto text =
      FormatTable(ReadRows(folder + "/" + c.averages + ".json"), c.options);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text,
            ReadFile(folder + "/table.key_averages." + c.name + ".txt"))
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
