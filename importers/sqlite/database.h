// database.h - reads tables of a database that somebody else wrote.
//
//   Findings findings;
//   KYMO_ASSIGN_OR_RETURN(Database db, Database::Open("report.sqlite"));
//   enum { kStart, kEnd, kName };
//   Rows rows = db.Read("CUPTI_ACTIVITY_KIND_KERNEL",
//                       {{"start", kRequired}, {"end", kRequired}, {"name"}},
//                       findings);
//   while (rows.Next()) Use(rows.Int(kStart), rows.Int(kEnd));
//
// Schemas differ between versions of the tools. So a table that the file does
// not have reads as empty, and a column as NULL. Nothing in the file is
// trusted:
//
//   - Views, virtual tables and triggers are not looked at. Functions that a
//     schema names are not run.
//   - A table ends after as many rows as the file has bytes: one with more rows
//     has pages that go in circles.
//   - Texts and blobs have at most kMaxValueBytes.
//
// Errors: Open returns kNotFound or kPermissionDenied, or kInvalidArgument if
//   the file is no database or its schema cannot be read. A later error becomes
//   a finding, and the rows end: `column_missing` (a required one),
//   `wrong_type` (the value reads as NULL), `database_damaged`.
// Threads: none. The file is only read.
#ifndef KYMO_IMPORTERS_SQLITE_DATABASE_H_
#define KYMO_IMPORTERS_SQLITE_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "importers/sqlite/findings.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kymo::sqlite {

inline constexpr int kMaxValueBytes = 16 << 20;

enum class Presence : uint8_t { kOptional, kRequired };
inline constexpr Presence kRequired = Presence::kRequired;

struct Column {
  const char* name;
  Presence presence = Presence::kOptional;
};

// The rows of a table. A cell is named by its column's position in the list of
// requested columns.
class Rows {
 public:
  // Goes to the next row; at first, to the first one. False at the end, and if
  // the file is damaged: then there is a finding.
  bool Next();

  // nullopt: the value is NULL or no integer, or there is no such column.
  std::optional<int64_t> Int(size_t column);
  int64_t IntOr(size_t column, int64_t otherwise) {
    return Int(column).value_or(otherwise);
  }
  std::optional<double> Double(size_t column);
  // Empty for NULL, for other types and for a missing column. Valid until the
  // next Next.
  std::string_view Text(size_t column);
  std::string_view Blob(size_t column);

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  Rows(std::string table, std::vector<std::string> columns,
       sqlite3_stmt* statement, uint64_t max_rows, Findings& findings);
  bool Has(size_t column, int type, const char* wanted);

  std::string table_;
  std::vector<std::string> columns_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;  // null: no rows
  uint64_t rows_left_ = 0;
  Findings* findings_;
};

class Database {
 public:
  static absl::StatusOr<Database> Open(const std::string& path);

  bool HasTable(std::string_view table) const {
    return tables_.find(table) != tables_.end();
  }
  bool HasColumn(std::string_view table, std::string_view column) const;
  // Sorted.
  std::vector<std::string> TableNames() const;

  // All rows of `table` in their order. `findings` must outlive them. No rows
  // if there is no such table.
  Rows Read(std::string_view table, std::initializer_list<Column> columns,
            Findings& findings) const;

  // 0 if there is no such table, or if it cannot be read.
  int64_t CountRows(std::string_view table) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  using Tables = std::map<std::string, std::vector<std::string>, std::less<>>;

  absl::Status ReadSchema();
  std::string LastError() const;

  std::unique_ptr<sqlite3, Close> database_;
  Tables tables_;  // with their columns
  uint64_t file_bytes_ = 0;
};

}  // namespace kymo::sqlite

#endif  // KYMO_IMPORTERS_SQLITE_DATABASE_H_
