// database.h - tables of a database that somebody else wrote.
//
//   Findings findings;
//   KYMO_ASSIGN_OR_RETURN(Database db, Database::Open("report.sqlite"));
//   enum { kStart, kEnd, kName };
//   Rows rows = db.Read("CUPTI_ACTIVITY_KIND_KERNEL",
//                       {{"start", kRequired}, {"end", kRequired}, {"name"}},
//                       findings);
//   while (rows.Next()) Use(rows.Int(kStart), rows.Int(kEnd));
//
// Schemas differ between versions of the tools, so a table or column that the
// file does not have reads as empty or NULL. Nothing in the file is trusted:
//
//   - views, virtual tables and triggers are not looked at, and functions that
//     a schema names are not run;
//   - a table has no more rows than the file has bytes, else its pages go in
//     circles;
//   - texts and blobs are at most kMaxValueBytes long.
//
// Errors: Open says kNotFound, kPermissionDenied, or kInvalidArgument for what
//   is no database or one whose schema cannot be read. Later trouble becomes a
//   finding, and the rows end: `column_missing` (a required one),
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

// The rows of a table. Cells are named by the position of their column in the
// list that was asked for.
class Rows {
 public:
  // The next row, the first at first. False at the end, and where the file is
  // damaged: a finding tells.
  bool Next();

  // nullopt: NULL, no such column, or not an integer.
  std::optional<int64_t> Int(size_t column);
  int64_t IntOr(size_t column, int64_t otherwise) {
    return Int(column).value_or(otherwise);
  }
  std::optional<double> Double(size_t column);
  // Empty for NULL, no such column or no text. Until the next call of Next.
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

  // All rows of `table` in the order they stand in; `findings` must outlive
  // them. No rows if there is no such table.
  Rows Read(std::string_view table, std::initializer_list<Column> columns,
            Findings& findings) const;

  // 0 if there is no such table, or it cannot be read.
  int64_t CountRows(std::string_view table) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  using Tables = std::map<std::string, std::vector<std::string>, std::less<>>;

  absl::Status ReadSchema();
  std::string LastError() const;

  std::unique_ptr<sqlite3, Close> database_;
  Tables tables_;  // and their columns
  uint64_t file_bytes_ = 0;
};

}  // namespace kymo::sqlite

#endif  // KYMO_IMPORTERS_SQLITE_DATABASE_H_
