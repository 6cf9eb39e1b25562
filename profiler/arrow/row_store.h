// row_store.h - rows whose types are not known before, as columns of Arrow.
//
//   RowStore store({"name", "count"});
//   store.column(0).Add("mm");
//   store.column(1).Add(int64_t{3});
//   const auto rows = std::move(store).Finish();    // text, int64
//   ExportStream(std::make_unique<StoredBatches>(rows), &stream);
//
// A column has the type that all its values have: bool, int64, double or text.
// Whole and other numbers together are doubles; anything else is text, as is a
// column with both numbers and texts. A column without a value has no type.
//
// Threads: StoredRows are constant; any number of streams may share them.
// Memory: 9 bytes a value, and its text; Finish makes a second copy of one
//   column at a time.
#ifndef KYMO_PROFILER_ARROW_ROW_STORE_H_
#define KYMO_PROFILER_ARROW_ROW_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/arrow/batch.h"
#include "profiler/arrow/stream.h"

namespace kymo::arrow {

// Values of one column.
class ColumnStore {
 public:
  void AddNull() { Add(Kind::kNull, 0); }
  void Add(int64_t value) { Add(Kind::kInt, value); }
  void Add(double value);
  void Add(bool value) { Add(Kind::kBool, value ? 1 : 0); }
  void Add(std::string_view text);

  size_t size() const { return kinds_.size(); }
  size_t memory_bytes() const;
  Type type() const;
  // REQUIRES: begin < end <= size().
  Values Take(Type type, size_t begin, size_t end) const;
  // Where a batch that begins here must end, so that its texts are not too
  // long.
  size_t BatchEnd(size_t begin, size_t most) const;

 private:
  enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kText };

  void Add(Kind kind, int64_t bits) {
    kinds_.push_back(kind);
    bits_.push_back(bits);
    seen_ |= 1u << static_cast<unsigned>(kind);
  }
  std::string_view TextAt(size_t row) const;
  void AppendAsText(size_t row, std::string& out) const;
  double DoubleAt(size_t row) const;

  std::vector<Kind> kinds_;
  std::vector<int64_t> bits_;      // the value; of a text, its number
  std::string bytes_;              // of all texts, as UTF-8
  std::vector<size_t> text_ends_;  // by text
  unsigned seen_ = 0;              // a bit for each kind
};

// Rows that do not change.
struct StoredRows {
  TableSchema schema;
  std::vector<std::shared_ptr<const Batch>> batches;
  size_t rows = 0;
};

class RowStore {
 public:
  explicit RowStore(std::vector<std::string> names)
      : names_(std::move(names)), columns_(names_.size()) {}

  ColumnStore& column(size_t i) { return columns_[i]; }
  size_t memory_bytes() const;

  // REQUIRES: all columns have equally many values.
  std::shared_ptr<const StoredRows> Finish() &&;

 private:
  std::vector<std::string> names_;
  std::vector<ColumnStore> columns_;
};

class StoredBatches final : public BatchSource {
 public:
  explicit StoredBatches(std::shared_ptr<const StoredRows> rows)
      : rows_(std::move(rows)) {}

  const TableSchema& schema() const override { return rows_->schema; }
  absl::StatusOr<std::shared_ptr<const Batch>> Next() override {
    if (next_ == rows_->batches.size()) return std::shared_ptr<const Batch>();
    return rows_->batches[next_++];
  }

 private:
  const std::shared_ptr<const StoredRows> rows_;
  size_t next_ = 0;
};

}  // namespace kymo::arrow

#endif  // KYMO_PROFILER_ARROW_ROW_STORE_H_
