#include "profiler/query/test_query.h"

#include <variant>

#include "absl/strings/str_cat.h"

namespace kymo {
namespace {

struct Text {
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const { return absl::StrCat(value); }
};

}  // namespace

std::vector<std::string> RowsOf(TraceQueries& queries, std::string_view sql) {
  const absl::StatusOr<QueryResult> result = queries.Run(sql);
  if (!result.ok()) {
    return {absl::StrCat("error: ", result.status().message())};
  }
  std::vector<std::string> rows;
  for (const std::vector<QueryValue>& values : result->rows) {
    std::string row;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) row += '|';
      row += std::visit(Text(), values[i]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> RowsOf(const model::Trace& trace,
                                std::string_view sql) {
  absl::StatusOr<TraceQueries> queries = TraceQueries::Open(trace);
  if (!queries.ok()) {
    return {absl::StrCat("error: ", queries.status().message())};
  }
  return RowsOf(*queries, sql);
}

}  // namespace kymo
