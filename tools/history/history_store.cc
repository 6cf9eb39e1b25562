#include "tools/history/history_store.h"

#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo::tools {
namespace {

constexpr int kApplication = 0x6b796d6f;  // "kymo": tells it from other files
constexpr int kPatienceMs = 30000;
// Each row has an amount of each run. A year of daily runs of a large program
// has a hundredth of that.
constexpr uint64_t kMostAmounts = uint64_t{1} << 27;

constexpr char kSchema[] =
    "CREATE TABLE IF NOT EXISTS runs(id INTEGER PRIMARY KEY, name TEXT, "
    "time_ns INTEGER);"
    "CREATE TABLE IF NOT EXISTS rows(id INTEGER PRIMARY KEY, kind TEXT, "
    "name TEXT, detail TEXT, UNIQUE(kind, name, detail));"
    "CREATE TABLE IF NOT EXISTS amounts(run INTEGER, row INTEGER, "
    "amount REAL, PRIMARY KEY(run, row)) WITHOUT ROWID;";

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
  }
};
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

class Database {
 public:
  static absl::StatusOr<Database> Open(const std::string& path, int flags) {
    Database result(path);
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
    result.database_.reset(database);
    if (code != SQLITE_OK) return result.Error("cannot open it");
    sqlite3_busy_timeout(database, kPatienceMs);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    // A file of others may have tables that never end, or that do more.
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    return result;
  }

  absl::Status Run(const std::string& sql) {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) ==
        SQLITE_OK) {
      return absl::OkStatus();
    }
    return Error("cannot write it");
  }

  absl::StatusOr<Statement> Prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement,
                           nullptr) != SQLITE_OK) {
      return Error("cannot read it");
    }
    return Statement(statement);
  }

  // True if there is a row.
  absl::StatusOr<bool> Step(sqlite3_stmt* statement) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return Error("cannot go on");
  }

  absl::StatusOr<int64_t> Number(const std::string& sql) {
    KYMO_ASSIGN_OR_RETURN(const Statement statement, Prepare(sql));
    KYMO_ASSIGN_OR_RETURN(const bool has_row, Step(statement.get()));
    return has_row ? sqlite3_column_int64(statement.get(), 0) : 0;
  }

  int64_t LastId() const { return sqlite3_last_insert_rowid(database_.get()); }

  absl::Status CheckKind(bool may_be_new) {
    KYMO_ASSIGN_OR_RETURN(const int64_t application,
                          Number("PRAGMA application_id"));
    if (application == kApplication) return absl::OkStatus();
    KYMO_ASSIGN_OR_RETURN(const int64_t tables,
                          Number("SELECT count(*) FROM sqlite_schema"));
    if (may_be_new && application == 0 && tables == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(path_,
                     " is no history of Kymo's; kymo report --append=FILE "
                     "makes one"));
  }

  // A small file can need much memory: each row has an amount of each run.
  absl::Status CheckSize() {
    KYMO_ASSIGN_OR_RETURN(const int64_t runs,
                          Number("SELECT count(*) FROM runs"));
    KYMO_ASSIGN_OR_RETURN(const int64_t rows,
                          Number("SELECT count(*) FROM rows"));
    if (runs == 0 || static_cast<uint64_t>(rows) <=
                         kMostAmounts / static_cast<uint64_t>(runs)) {
      return absl::OkStatus();
    }
    return absl::ResourceExhaustedError(absl::StrCat(
        path_, ": ", runs, " runs of ", rows, " rows are more than ",
        kMostAmounts, " amounts; append to another file from now on"));
  }

  absl::Status Error(const std::string& what) const {
    const int code = sqlite3_errcode(database_.get());
    const std::string text =
        absl::StrCat(path_, ": ", what, ": ", sqlite3_errmsg(database_.get()));
    if (code == SQLITE_NOTADB) return absl::InvalidArgumentError(text);
    return absl::AbortedError(text);
  }

 private:
  explicit Database(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
};

void Bind(sqlite3_stmt* statement, int place, std::string_view text) {
  sqlite3_bind_text(statement, place, text.data(),
                    static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::string TextOf(sqlite3_stmt* statement, int column) {
  const auto* const text =
      reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  if (text == nullptr) return "";
  return std::string(text, sqlite3_column_bytes(statement, column));
}

std::optional<RunTable> TableOf(const std::string& kind) {
  for (size_t t = 0; t < static_cast<size_t>(RunTable::kCount); ++t) {
    const auto table = static_cast<RunTable>(t);
    if (kind == RunTableName(table)) return table;
  }
  return std::nullopt;
}

absl::Status InsertRun(Database& database, const HistoryRun& run) {
  KYMO_ASSIGN_OR_RETURN(
      const Statement statement,
      database.Prepare("INSERT INTO runs(name, time_ns) VALUES(?, ?)"));
  Bind(statement.get(), 1, run.name);
  sqlite3_bind_int64(statement.get(), 2, run.time_ns);
  return database.Step(statement.get()).status();
}

absl::Status InsertAmounts(Database& database, int64_t run,
                           const RunAmounts& amounts) {
  KYMO_ASSIGN_OR_RETURN(
      const Statement row,
      database.Prepare("INSERT OR IGNORE INTO rows(kind, name, detail) "
                       "VALUES(?, ?, ?)"));
  KYMO_ASSIGN_OR_RETURN(
      const Statement amount,
      database.Prepare(
          "INSERT INTO amounts(run, row, amount) SELECT ?1, id, ?2 FROM rows "
          "WHERE kind = ?3 AND name = ?4 AND detail = ?5"));
  for (const auto& [key, value] : amounts) {
    const char* const kind = RunTableName(key.table);
    Bind(row.get(), 1, kind);
    Bind(row.get(), 2, key.name);
    Bind(row.get(), 3, key.detail);
    KYMO_RETURN_IF_ERROR(database.Step(row.get()).status());
    sqlite3_reset(row.get());
    sqlite3_bind_int64(amount.get(), 1, run);
    sqlite3_bind_double(amount.get(), 2, value);
    Bind(amount.get(), 3, kind);
    Bind(amount.get(), 4, key.name);
    Bind(amount.get(), 5, key.detail);
    KYMO_RETURN_IF_ERROR(database.Step(amount.get()).status());
    sqlite3_reset(amount.get());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendRun(const std::string& path, const HistoryRun& run,
                       const RunAmounts& amounts) {
  KYMO_ASSIGN_OR_RETURN(
      Database database,
      Database::Open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  // All or nothing: what is not committed is rolled back.
  KYMO_RETURN_IF_ERROR(database.Run("BEGIN IMMEDIATE"));
  KYMO_RETURN_IF_ERROR(database.CheckKind(/*may_be_new=*/true));
  KYMO_RETURN_IF_ERROR(database.Run(
      absl::StrCat("PRAGMA application_id = ", kApplication, ";", kSchema)));
  KYMO_RETURN_IF_ERROR(InsertRun(database, run));
  KYMO_RETURN_IF_ERROR(InsertAmounts(database, database.LastId(), amounts));
  return database.Run("COMMIT");
}

absl::StatusOr<RunHistory> ReadRuns(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) {
    if (errno != ENOENT) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
    }
    return absl::NotFoundError(absl::StrCat(
        path, " is not there; kymo report --append=FILE makes a history"));
  }
  KYMO_ASSIGN_OR_RETURN(Database database,
                        Database::Open(path, SQLITE_OPEN_READONLY));
  KYMO_RETURN_IF_ERROR(database.Run("BEGIN"));
  KYMO_RETURN_IF_ERROR(database.CheckKind(/*may_be_new=*/false));
  KYMO_RETURN_IF_ERROR(database.CheckSize());
  RunHistory history;
  std::map<int64_t, size_t> places;  // of runs, by id
  KYMO_ASSIGN_OR_RETURN(
      const Statement runs,
      database.Prepare("SELECT id, name, time_ns FROM runs ORDER BY id"));
  for (;;) {
    KYMO_ASSIGN_OR_RETURN(const bool has_row, database.Step(runs.get()));
    if (!has_row) break;
    places[sqlite3_column_int64(runs.get(), 0)] = history.runs.size();
    history.runs.push_back({.name = TextOf(runs.get(), 1),
                            .time_ns = sqlite3_column_int64(runs.get(), 2)});
  }
  KYMO_ASSIGN_OR_RETURN(
      const Statement amounts,
      database.Prepare("SELECT kind, name, detail, run, amount FROM amounts "
                       "JOIN rows ON rows.id = row"));
  for (;;) {
    KYMO_ASSIGN_OR_RETURN(const bool has_row, database.Step(amounts.get()));
    if (!has_row) break;
    const std::optional<RunTable> table = TableOf(TextOf(amounts.get(), 0));
    const auto place = places.find(sqlite3_column_int64(amounts.get(), 3));
    const double amount = sqlite3_column_double(amounts.get(), 4);
    // A newer version's, or nobody's: others may write such files.
    if (!table || place == places.end() || !std::isfinite(amount)) continue;
    std::vector<double>& row =
        history
            .rows[{*table, TextOf(amounts.get(), 1), TextOf(amounts.get(), 2)}];
    row.resize(history.runs.size());
    row[place->second] = amount;
    std::vector<bool>& has_table = history.has_table[*table];
    has_table.resize(history.runs.size());
    has_table[place->second] = true;
  }
  return history;
}

}  // namespace kymo::tools
