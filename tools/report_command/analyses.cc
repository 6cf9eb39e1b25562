#include "tools/report_command/analyses.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"
#include "profiler/report/analyses.h"
#include "profiler/text/json_writer.h"

namespace kymo::tools {
namespace {

using model::Trace;

DataTable DataOf(const report::ValueTable& table, int row_limit) {
  std::vector<std::string> names;
  for (const report::ValueColumn& column : table.columns) {
    names.push_back(column.name);
  }
  DataTable data(std::move(names));
  int count = 0;
  for (const std::vector<report::Value>& row : table.rows) {
    if (count++ == row_limit) break;
    std::vector<DataValue> values;
    for (const report::Value& value : row) {
      values.push_back(
          std::visit([](const auto& held) { return DataValue(held); }, value));
    }
    data.AddRow(std::move(values));
  }
  return data;
}

std::string JsonText(const Trace& trace, std::span<const std::string> names,
                     int row_limit) {
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  for (const std::string& name : names) {
    json.Key(name);
    DataOf(report::FindAnalysis(name)->table(trace), row_limit).WriteJson(json);
  }
  json.EndObject();
  return text + "\n";
}

}  // namespace

std::string AnalysesText(const Trace& trace, std::span<const std::string> names,
                         TextFormat format,
                         const report::ValueTableOptions& options) {
  if (format == TextFormat::kJson) {
    return JsonText(trace, names, options.row_limit);
  }
  if (format == TextFormat::kCsv) {
    return DataOf(report::FindAnalysis(names[0])->table(trace),
                  options.row_limit)
        .Csv();
  }
  std::string text;
  for (const std::string& name : names) {
    const report::Analysis& analysis = *report::FindAnalysis(name);
    const std::string table =
        analysis.text != nullptr
            ? analysis.text(trace, options.row_limit)
            : report::FormatValueTable(
                  report::VisibleTable(analysis.table(trace)), options);
    absl::StrAppend(&text, text.empty() ? "" : "\n", name, ": ",
                    ToAbsl(analysis.purpose), "\n",
                    table.empty() ? "(nothing)\n" : table);
    if (analysis.note != nullptr) text += analysis.note(trace);
  }
  return text;
}

}  // namespace kymo::tools
