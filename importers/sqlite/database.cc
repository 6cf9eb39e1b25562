#include "importers/sqlite/database.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::sqlite {
namespace {

using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

std::string Quoted(std::string_view name) {
  return absl::StrCat("\"", absl::StrReplaceAll(ToAbsl(name), {{"\"", "\"\""}}),
                      "\"");
}

// Null if SQLite does not understand the statement, or the schema.
sqlite3_stmt* Prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()),
                     &statement, nullptr);
  return statement;
}

std::string_view TextOf(sqlite3_stmt* statement, int column) {
  const auto* const text =
      reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement, column))};
}

const char* TypeName(int type) {
  switch (type) {
    case SQLITE_INTEGER:
      return "an integer";
    case SQLITE_FLOAT:
      return "a number with a fraction";
    case SQLITE_TEXT:
      return "a text";
    default:
      return "a blob";
  }
}

absl::StatusOr<uint64_t> SizeOfFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || access(path.c_str(), R_OK) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a regular file"));
  }
  return static_cast<uint64_t>(status.st_size);
}

// Switches off everything by which a schema could attack whoever opens it.
void Harden(sqlite3* database) {
  for (const auto& [option, value] :
       {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1),
        std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_VIEW, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)}) {
    sqlite3_db_config(database, option, value, nullptr);
  }
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_exec(database, "PRAGMA cell_size_check=ON", nullptr, nullptr,
               nullptr);
}

}  // namespace

void Rows::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Rows::Rows(std::string table, std::vector<std::string> columns,
           sqlite3_stmt* statement, uint64_t max_rows, Findings& findings)
    : table_(std::move(table)),
      columns_(std::move(columns)),
      statement_(statement),
      rows_left_(max_rows),
      findings_(&findings) {}

bool Rows::Next() {
  if (statement_ == nullptr) return false;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW && rows_left_ > 0) {
    --rows_left_;
    return true;
  }
  if (code != SQLITE_DONE) {
    findings_->AddEach(
        Severity::kError, "database_damaged",
        absl::StrCat(
            "the rows of ", table_, " end early: ",
            code == SQLITE_ROW
                ? "there are more of them than the file has bytes"
                : sqlite3_errmsg(sqlite3_db_handle(statement_.get()))));
  }
  statement_.reset();
  return false;
}

bool Rows::Has(size_t column, int type, const char* wanted) {
  const int found =
      sqlite3_column_type(statement_.get(), static_cast<int>(column));
  if (found == type) return true;
  if (found == SQLITE_NULL) return false;
  findings_->Add(
      Severity::kError, "wrong_type",
      absl::StrCat(table_, ".", columns_[column], " is ", TypeName(found),
                   " where ", wanted, " is expected"));
  return false;
}

std::optional<int64_t> Rows::Int(size_t column) {
  if (!Has(column, SQLITE_INTEGER, "an integer")) return std::nullopt;
  return sqlite3_column_int64(statement_.get(), static_cast<int>(column));
}

std::optional<double> Rows::Double(size_t column) {
  const int at = static_cast<int>(column);
  if (sqlite3_column_type(statement_.get(), at) != SQLITE_INTEGER &&
      !Has(column, SQLITE_FLOAT, "a number")) {
    return std::nullopt;
  }
  return sqlite3_column_double(statement_.get(), at);
}

std::string_view Rows::Text(size_t column) {
  if (!Has(column, SQLITE_TEXT, "a text")) return {};
  return TextOf(statement_.get(), static_cast<int>(column));
}

std::string_view Rows::Blob(size_t column) {
  if (!Has(column, SQLITE_BLOB, "a blob")) return {};
  const int at = static_cast<int>(column);
  const void* const bytes = sqlite3_column_blob(statement_.get(), at);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), at))};
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

absl::StatusOr<Database> Database::Open(const std::string& path) {
  Database result;
  KYMO_ASSIGN_OR_RETURN(result.file_bytes_, SizeOfFile(path));
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &database,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  result.database_.reset(database);
  if (code != SQLITE_OK) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", result.LastError()));
  }
  Harden(database);
  const absl::Status status = result.ReadSchema();
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", status.message()));
  }
  return result;
}

std::string Database::LastError() const {
  return database_ == nullptr ? "out of memory"
                              : sqlite3_errmsg(database_.get());
}

absl::Status Database::ReadSchema() {
  const Statement names(
      Prepare(database_.get(),
              "SELECT name FROM sqlite_master WHERE type = 'table' AND "
              "sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite~_%' "
              "ESCAPE '~'"),
      sqlite3_finalize);
  int code = SQLITE_ERROR;
  while (names != nullptr && (code = sqlite3_step(names.get())) == SQLITE_ROW) {
    tables_.try_emplace(std::string(TextOf(names.get(), 0)));
  }
  if (code != SQLITE_DONE) {
    return absl::InvalidArgumentError(
        absl::StrCat("its tables cannot be listed: ", LastError()));
  }
  for (auto& [table, columns] : tables_) {
    const Statement info(
        Prepare(database_.get(),
                absl::StrCat("PRAGMA table_info(", Quoted(table), ")")),
        sqlite3_finalize);
    while (info != nullptr && sqlite3_step(info.get()) == SQLITE_ROW) {
      columns.emplace_back(TextOf(info.get(), 1));
    }
  }
  return absl::OkStatus();
}

bool Database::HasColumn(std::string_view table,
                         std::string_view column) const {
  const auto it = tables_.find(table);
  return it != tables_.end() && std::find(it->second.begin(), it->second.end(),
                                          column) != it->second.end();
}

std::vector<std::string> Database::TableNames() const {
  std::vector<std::string> names;
  for (const auto& [name, columns] : tables_) names.push_back(name);
  return names;
}

Rows Database::Read(std::string_view table,
                    std::initializer_list<Column> columns,
                    Findings& findings) const {
  std::vector<std::string> names;
  std::string list;
  bool complete = HasTable(table);
  for (const Column& column : columns) {
    names.emplace_back(column.name);
    const bool present = HasColumn(table, column.name);
    absl::StrAppend(&list, list.empty() ? "" : ", ",
                    present ? Quoted(column.name) : "NULL");
    if (present || column.presence != kRequired || !HasTable(table)) continue;
    complete = false;
    findings.AddEach(Severity::kError, "column_missing",
                     absl::StrCat(ToAbsl(table), " has no column ", column.name,
                                  ": its rows cannot be read"));
  }
  sqlite3_stmt* statement = nullptr;
  if (complete) {
    statement =
        Prepare(database_.get(),
                absl::StrCat("SELECT ", list, " FROM main.", Quoted(table)));
    if (statement == nullptr) {
      findings.AddEach(
          Severity::kError, "database_damaged",
          absl::StrCat(ToAbsl(table), " cannot be read: ", LastError()));
    }
  }
  return Rows(std::string(table), std::move(names), statement, file_bytes_,
              findings);
}

int64_t Database::CountRows(std::string_view table) const {
  if (!HasTable(table)) return 0;
  const Statement count(
      Prepare(database_.get(),
              absl::StrCat("SELECT count(*) FROM main.", Quoted(table))),
      sqlite3_finalize);
  if (count == nullptr || sqlite3_step(count.get()) != SQLITE_ROW) return 0;
  return sqlite3_column_int64(count.get(), 0);
}

}  // namespace kymo::sqlite
