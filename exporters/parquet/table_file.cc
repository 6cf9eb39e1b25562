#include "exporters/parquet/table_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "absl/strings/str_cat.h"
#include "exporters/parquet/encode_rows.h"
#include "kymo/version.h"
#include "profiler/analysis/memory/program_starts.h"
#include "profiler/base/parallel.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/thread_states.h"
#include "profiler/parquet/encode_column.h"
#include "profiler/parquet/file_writer.h"
#include "profiler/text/json_writer.h"

namespace kymo::parquet {
namespace {

using tables::TraceTables;

// Of the events: columns that are made by a pass over the trace. Those of one
// line are made together.
constexpr std::array<std::array<std::string_view, 2>, 6> kDerived = {{
    {"self_ns"},
    {"depth"},
    {"step"},
    {"flops"},
    {"wait_ns"},
    {"cpu_memory_bytes", "device_memory_bytes"},
}};

// The texts of a row group take memory that does not depend on the rows.
constexpr size_t kMostTextBytes = size_t{8} << 20;

// Enough digits to read the same number again.
std::string ExactText(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

// Where an exec ended blocks of memory: "pid:time" of each program of that
// process, separated by spaces. A reader pairs the records again.
std::string ProgramStartsText(const model::Trace& trace) {
  std::string text;
  for (const analysis::ProgramStart& start : analysis::ProgramStarts(trace)) {
    absl::StrAppend(&text, text.empty() ? "" : " ", start.pid, ":",
                    start.time_ns);
  }
  return text;
}

// By name: what it means, its unit, and what it refers to.
std::string MeaningsOf(const std::vector<tables::Column>& columns) {
  std::string text;
  json::JsonWriter out(text);
  out.BeginObject();
  for (const tables::Column& column : columns) {
    out.Key(column.name);
    out.BeginObject();
    out.Member("meaning", column.meaning);
    if (!column.unit.empty()) out.Member("unit", column.unit);
    if (!column.references.empty()) {
      out.Member("references", column.references);
    }
    out.EndObject();
  }
  out.EndObject();
  return text;
}

// Encoded columns of all row groups, by the column's name.
using Encoded = std::map<std::string_view, std::vector<EncodedColumn>>;

void EncodeDerived(const TraceTables& tables, const tables::Column& column,
                   const std::vector<size_t>& ends, Encoded& encoded) {
  ReadFirstRows(tables, column, ends.back());
  std::vector<EncodedColumn>& groups = encoded[column.name];
  groups.resize(ends.size());
  ParallelForEach(ends.size(), [&](size_t g) {
    const size_t begin = g == 0 ? 0 : ends[g - 1];
    groups[g] = EncodeRows(tables, column, begin, ends[g]);
  });
}

// Makes the derived columns one after the other: together they would take more
// memory than the encoded file.
Encoded EncodeAllDerived(const model::Trace& trace, const tables::Table& table,
                         const std::vector<size_t>& ends) {
  Encoded encoded;
  if (table.name != "events" || ends.empty()) return encoded;
  for (const auto& names : kDerived) {
    const TraceTables tables(trace);
    for (const std::string_view name : names) {
      const tables::Column* const column = table.FindColumn(name);
      if (column != nullptr) EncodeDerived(tables, *column, ends, encoded);
    }
  }
  return encoded;
}

}  // namespace

Metadata FileFacts(const model::Trace& trace, std::string_view job,
                   int64_t rank) {
  const model::ThreadStates* const states = trace.thread_states();
  Metadata facts = {
      {"kymo.schema_version", absl::StrCat(tables::kSchemaVersion)},
      {"kymo.version", KYMO_VERSION},
      {"kymo.job", std::string(job)},
      {"kymo.rank", absl::StrCat(rank)},
      {"kymo.start_ns", absl::StrCat(trace.start_ns())},
      {"kymo.end_ns", absl::StrCat(trace.end_ns())},
      {"kymo.sampling_period_ns", absl::StrCat(trace.sampling_period_ns())},
      {"kymo.memory_sample_interval",
       ExactText(trace.memory_sample_interval())}};
  if (states != nullptr) {
    facts.emplace_back("kymo.cpu_count", absl::StrCat(states->cpu_count));
    facts.emplace_back("kymo.min_wait_ns", absl::StrCat(states->min_wait_ns));
    facts.emplace_back("kymo.own_cpu_ns", absl::StrCat(states->kymo_cpu_ns));
    const model::CpuLimit& limit = states->cpu_limit;
    if (limit.quota_ns > 0) {
      facts.emplace_back("kymo.cpu_quota_ns", absl::StrCat(limit.quota_ns));
      facts.emplace_back("kymo.cpu_period_ns", absl::StrCat(limit.period_ns));
      facts.emplace_back("kymo.cpu_periods", absl::StrCat(limit.periods));
      facts.emplace_back("kymo.cpu_throttled_periods",
                         absl::StrCat(limit.throttled_periods));
      facts.emplace_back("kymo.cpu_throttled_ns",
                         absl::StrCat(limit.throttled_ns));
    }
  }
  return facts;
}

std::vector<tables::Column> TableFile::ColumnsOf(const tables::Table& table) {
  std::vector<tables::Column> columns;
  for (const tables::Column& column : table.columns) {
    if (column.name != "rank") columns.push_back(column);
  }
  return columns;
}

// Ends the group early if its texts are long.
size_t TableFile::GroupEnd(const std::vector<tables::Column>& columns,
                           size_t begin, size_t rows) const {
  constexpr size_t kStep = 1024;
  const size_t most = std::min(rows, begin + kGroupRows);
  if (trace_.strings().memory_bytes() <= 2 * kMostTextBytes) return most;
  std::array<tables::TextId, kStep> ids;
  std::array<size_t, kStep> row_bytes;
  size_t bytes = 0;
  for (size_t at = begin; at < most; at += kStep) {
    const size_t end = std::min(most, at + kStep);
    row_bytes.fill(0);
    for (const tables::Column& column : columns) {
      if (column.type != tables::ColumnType::kText) continue;
      tables_.Texts(column, at, end, ids.data());
      for (size_t i = 0; i < end - at; ++i) {
        if (ids[i] == tables::kNoText) continue;
        row_bytes[i] += tables_.Text(ids[i]).size();
      }
    }
    for (size_t i = 0; i < end - at; ++i) {
      bytes += row_bytes[i];
      if (bytes > kMostTextBytes) return at + i + 1;
    }
  }
  return most;
}

std::vector<size_t> TableFile::GroupEnds(
    const std::vector<tables::Column>& columns, size_t rows) const {
  std::vector<size_t> ends;
  for (size_t at = 0; at < rows; at = ends.back()) {
    ends.push_back(GroupEnd(columns, at, rows));
  }
  return ends;
}

absl::Status TableFile::Write(const tables::Table& table,
                              ByteSink& sink) const {
  const std::vector<tables::Column> columns = ColumnsOf(table);
  FileSchema schema;
  schema.metadata = facts_;
  schema.metadata.emplace_back("kymo.table", std::string(table.name));
  schema.metadata.emplace_back("kymo.columns", MeaningsOf(columns));
  if (table.name == "memory") {
    schema.metadata.emplace_back("kymo.program_starts",
                                 ProgramStartsText(trace_));
  }
  schema.created_by = "kymo version " KYMO_VERSION;
  for (const tables::Column& column : columns) {
    schema.columns.push_back(ParquetColumn(column));
  }
  // The folder has the name of one rank, the first, so the table has that one.
  const size_t rows = table.name == "ranks"
                          ? std::min<size_t>(tables_.RowCount(table), 1)
                          : tables_.RowCount(table);
  const std::vector<size_t> ends = GroupEnds(columns, rows);
  Encoded derived = EncodeAllDerived(trace_, table, ends);
  for (const tables::Column& column : columns) {
    if (!derived.contains(column.name)) ReadFirstRows(tables_, column, rows);
  }
  FileWriter writer(std::move(schema),
                    [&](std::string_view bytes) { return sink.Append(bytes); });
  KYMO_RETURN_IF_ERROR(writer.Begin());
  for (size_t g = 0, begin = 0; g < ends.size(); begin = ends[g++]) {
    std::vector<EncodedColumn> encoded(columns.size());
    ParallelForEach(columns.size(), [&](size_t c) {
      const auto done = derived.find(columns[c].name);
      encoded[c] = done != derived.end()
                       ? std::move(done->second[g])
                       : EncodeRows(tables_, columns[c], begin, ends[g]);
    });
    KYMO_RETURN_IF_ERROR(writer.AddRowGroup(ends[g] - begin, encoded));
  }
  return writer.Finish();
}

}  // namespace kymo::parquet
