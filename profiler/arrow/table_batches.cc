#include "profiler/arrow/table_batches.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/parallel.h"
#include "profiler/text/utf8.h"

namespace kymo::arrow {

using tables::ColumnType;
using tables::kNoText;
using tables::TextId;

namespace {

constexpr size_t kBatchRows = size_t{1} << 16;
// Offsets of texts have 31 bits. A single text may be longer than kBatchBytes.
constexpr size_t kBatchBytes = size_t{64} << 20;
constexpr size_t kLongestText = size_t{1} << 30;

Type TypeOf(ColumnType type) {
  switch (type) {
    case ColumnType::kBool:
      return Type::kBool;
    case ColumnType::kInt64:
      return Type::kInt64;
    case ColumnType::kDouble:
      return Type::kDouble;
    case ColumnType::kText:
      break;
  }
  return Type::kText;
}

Values ReadNumbers(const tables::TraceTables& tables,
                   const tables::Column& column, size_t begin, size_t end) {
  Values values;
  Column<uint8_t> is_valid(column.is_nullable ? end - begin : 0);
  uint8_t* const valid = column.is_nullable ? is_valid.data() : nullptr;
  if (column.type == ColumnType::kDouble) {
    values.doubles.resize(end - begin);
    tables.Doubles(column, begin, end, values.doubles.data(), valid);
  } else {
    values.ints.resize(end - begin);
    tables.Int64s(column, begin, end, values.ints.data(), valid);
  }
  SetValidity(is_valid, values);
  if (column.type == ColumnType::kBool) {
    Column<uint8_t> bytes(end - begin);
    std::ranges::transform(values.ints, bytes.begin(),
                           [](int64_t v) { return v != 0 ? 1 : 0; });
    values.bits = PackBits(bytes);
    values.ints = {};
  }
  return values;
}

}  // namespace

// The texts of one column, as UTF-8. Each text is looked through only once.
class TextColumn {
 public:
  TextColumn(const tables::TraceTables& tables, const tables::Column& column)
      : tables_(tables), column_(column), is_known_(tables.text_count()) {}

  // Reads rows [begin, end), or fewer if they have many bytes: returns where it
  // ended.
  size_t Read(size_t begin, size_t end) {
    ids_.resize(end - begin);
    tables_.Texts(column_, begin, end, ids_.data());
    size_t bytes = 0;
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i] == kNoText) continue;
      const size_t size = Text(ids_[i]).size();
      bytes += size;
      has_long_ |= size > kLongestText;
      if (bytes > kBatchBytes) return begin + std::max<size_t>(i, 1);
    }
    return end;
  }

  bool has_long() const { return has_long_; }

  // The values of the first `rows` rows that were read.
  Values Take(size_t rows) {
    Values values;
    values.offsets.resize(rows + 1);
    values.offsets[0] = 0;
    Column<uint8_t> is_valid(column_.is_nullable ? rows : 0);
    for (size_t i = 0; i < rows; ++i) {
      const bool is_there = ids_[i] != kNoText;
      if (column_.is_nullable) is_valid[i] = is_there ? 1 : 0;
      if (is_there) values.bytes += Text(ids_[i]);
      values.offsets[i + 1] = static_cast<int32_t>(values.bytes.size());
    }
    SetValidity(is_valid, values);
    return values;
  }

 private:
  std::string_view Text(TextId id) {
    const std::string_view text = tables_.Text(id);
    if (is_known_[Index(id)]) {
      if (changed_.empty()) return text;
      const auto it = changed_.find(Index(id));
      return it == changed_.end() ? text : std::string_view(*it->second);
    }
    is_known_[Index(id)] = true;
    std::string scratch;
    const std::string_view valid = json::ToUtf8(text, scratch);
    if (valid.data() == text.data()) return text;
    return *changed_
                .emplace(Index(id),
                         std::make_unique<std::string>(std::move(scratch)))
                .first->second;
  }

  const tables::TraceTables& tables_;
  const tables::Column& column_;
  std::vector<bool> is_known_;  // by id
  // By id: what is not as the trace has it.
  absl::flat_hash_map<uint32_t, std::unique_ptr<std::string>> changed_;
  Column<TextId> ids_;
  bool has_long_ = false;
};

TableBatches::TableBatches(std::shared_ptr<const tables::TraceTables> tables,
                           const tables::Table& table,
                           std::vector<const tables::Column*> columns)
    : tables_(std::move(tables)),
      columns_(std::move(columns)),
      rows_(tables_->RowCount(table)) {
  schema_.metadata = {
      {"kymo.schema_version", absl::StrCat(tables::kSchemaVersion)},
      {"kymo.table", std::string(table.name)}};
  for (const tables::Column* const column : columns_) {
    schema_.fields.push_back({.name = std::string(column->name),
                              .type = TypeOf(column->type),
                              .is_nullable = column->is_nullable});
    texts_.push_back(column->type == ColumnType::kText
                         ? std::make_unique<TextColumn>(*tables_, *column)
                         : nullptr);
  }
}

TableBatches::~TableBatches() = default;

std::vector<const tables::Column*> TableBatches::AllColumns(
    const tables::Table& table) {
  std::vector<const tables::Column*> columns;
  for (const tables::Column& column : table.columns) columns.push_back(&column);
  return columns;
}

// Makes what columns are derived from, which the loop over columns may not do:
// its threads would wait for each other. Some tables have two kinds of rows,
// one after the other.
void TableBatches::MakeDerivedColumns() const {
  for (const tables::Column* const column : columns_) {
    for (const size_t row : {size_t{0}, rows_ - 1}) {
      if (column->type == ColumnType::kText) {
        TextId id;
        tables_->Texts(*column, row, row + 1, &id);
        if (id != kNoText) tables_->Text(id);
      } else {
        ReadNumbers(*tables_, *column, row, row + 1);
      }
    }
  }
}

absl::StatusOr<std::shared_ptr<const Batch>> TableBatches::Next() {
  if (at_ == rows_) return std::shared_ptr<const Batch>();
  if (at_ == 0) MakeDerivedColumns();
  std::vector<size_t> ends(columns_.size(), std::min(rows_, at_ + kBatchRows));
  ParallelForEach(columns_.size(), [&](size_t i) {
    if (texts_[i] != nullptr) ends[i] = texts_[i]->Read(at_, ends[i]);
  });
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (texts_[i] == nullptr || !texts_[i]->has_long()) continue;
    return absl::ResourceExhaustedError(absl::StrCat(
        "a text of the column '", schema_.fields[i].name, "' has more than ",
        kLongestText >> 30, " GiB; select other columns"));
  }
  const size_t end = *std::ranges::min_element(ends);
  Batch batch{.rows = end - at_};
  batch.columns.resize(columns_.size());
  ParallelForEach(columns_.size(), [&](size_t i) {
    batch.columns[i] = texts_[i] != nullptr
                           ? texts_[i]->Take(batch.rows)
                           : ReadNumbers(*tables_, *columns_[i], at_, end);
  });
  at_ = end;
  return std::make_shared<const Batch>(std::move(batch));
}

}  // namespace kymo::arrow
