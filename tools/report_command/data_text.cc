#include "tools/report_command/data_text.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_join.h"
#include "profiler/text/csv_field.h"
#include "profiler/text/json_text.h"
#include "profiler/text/visible_text.h"

namespace kymo::tools {
namespace {

struct PlainText {
  std::string operator()(std::monostate) const { return ""; }
  // In a spreadsheet or a terminal, control characters would be obeyed.
  std::string operator()(const std::string& text) const {
    return VisibleText(text);
  }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  // A column of times is read by people: 300000, not 3e+05.
  std::string operator()(double value) const {
    std::string text;
    constexpr double kMostPlain = 1e15;
    if (value == std::trunc(value) && std::abs(value) < kMostPlain) {
      json::AppendInt(text, static_cast<int64_t>(value));
    } else {
      json::AppendDouble(text, value);
    }
    return text;
  }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::vector<std::string>& lines) const {
    return absl::StrJoin(lines, "\n",
                         [](std::string* out, const std::string& line) {
                           *out += VisibleText(line);
                         });
  }
};

struct JsonValue {
  json::JsonWriter& json;

  void operator()(std::monostate) const { json.Raw("null"); }
  void operator()(const std::string& text) const { json.String(text); }
  void operator()(int64_t value) const { json.Int(value); }
  void operator()(double value) const { json.Double(value); }
  void operator()(bool value) const { json.Bool(value); }
  void operator()(const std::vector<std::string>& lines) const {
    json.BeginArray();
    for (const std::string& line : lines) json.String(line);
    json.EndArray();
  }
};

}  // namespace

std::string DataTable::Csv() const {
  std::string out;
  const auto end_field = [&](size_t i) {
    out += i + 1 == names_.size() ? "\r\n" : ",";
  };
  for (size_t i = 0; i < names_.size(); ++i) {
    AppendCsvField(names_[i], out);
    end_field(i);
  }
  for (const std::vector<DataValue>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      AppendCsvField(std::visit(PlainText(), row[i]), out);
      end_field(i);
    }
  }
  return out;
}

void DataTable::WriteJson(json::JsonWriter& json) const {
  json.BeginArray();
  for (const std::vector<DataValue>& row : rows_) {
    json.BeginObject();
    for (size_t i = 0; i < row.size(); ++i) {
      json.Key(names_[i]);
      std::visit(JsonValue{json}, row[i]);
    }
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace kymo::tools
