// data_text.h - tables of named values as CSV or JSON.
//
//   DataTable table({"name", "count"});
//   table.AddRow({std::string("aten::mm"), int64_t{3}});
//   table.Csv();             // name,count\r\naten::mm,3\r\n
//   table.WriteJson(json);   // [{"name": "aten::mm", "count": 3}]
//
// CSV is that of RFC 4180, with a first line of names. Numbers and lists of
// texts are texts in CSV; a list has one line for each of its texts.
#ifndef KYMO_TOOLS_REPORT_COMMAND_DATA_TEXT_H_
#define KYMO_TOOLS_REPORT_COMMAND_DATA_TEXT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/text/json_writer.h"

namespace kymo::tools {

// How a report is written. Markdown is for rows of SQL alone.
enum class TextFormat { kText, kCsv, kJson, kMarkdown };

// monostate: null in JSON, nothing in CSV.
using DataValue = std::variant<std::monostate, std::string, int64_t, double,
                               bool, std::vector<std::string>>;

class DataTable {
 public:
  explicit DataTable(std::vector<std::string> names)
      : names_(std::move(names)) {}

  // REQUIRES: a value per name.
  void AddRow(std::vector<DataValue> row) { rows_.push_back(std::move(row)); }

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::vector<DataValue>>& rows() const { return rows_; }

  std::string Csv() const;
  void WriteJson(json::JsonWriter& json) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<DataValue>> rows_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_DATA_TEXT_H_
