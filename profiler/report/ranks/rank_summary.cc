#include "profiler/report/ranks/rank_summary.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "profiler/report/ranks/rank_tables.h"
#include "profiler/report/value_table.h"

namespace kymo::report {
namespace {

void WriteRow(const std::vector<ValueColumn>& columns,
              const std::vector<Value>& row, json::JsonWriter& json) {
  json.BeginObject();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (std::holds_alternative<std::monostate>(row[i])) continue;
    json.Key(columns[i].name);
    if (const auto* const text = std::get_if<std::string>(&row[i])) {
      json.String(*text);
    } else if (const auto* const count = std::get_if<int64_t>(&row[i])) {
      json.Int(*count);
    } else {
      json.Double(std::get<double>(row[i]));
    }
  }
  json.EndObject();
}

void WriteTable(std::string_view key, const ValueTable& table,
                json::JsonWriter& json) {
  json.Key(key);
  json.BeginArray();
  for (const std::vector<Value>& row : table.rows) {
    WriteRow(table.columns, row, json);
  }
  json.EndArray();
}

}  // namespace

void WriteRankTables(const analysis::JobOfRanks& job, json::JsonWriter& json) {
  const ValueTable ranks = RankTable(job);
  if (ranks.rows.empty()) return;
  WriteTable("ranks", ranks, json);
  WriteTable("collectives", CollectiveTable(job), json);
  WriteTable("mpi_waits", MpiWaitTable(job), json);
  WriteTable("messages", MessageTable(job), json);
  WriteTable("imbalance", ImbalanceTable(job), json);
}

}  // namespace kymo::report
