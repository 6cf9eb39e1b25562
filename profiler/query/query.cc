#include "profiler/query/query.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/query/functions.h"
#include "profiler/query/query_error.h"
#include "profiler/query/read_only.h"
#include "profiler/query/table_module.h"
#include "profiler/query/views.h"
#include "profiler/tables/trace_tables.h"

namespace kymo {
namespace {

using Clock = std::chrono::steady_clock;

// How many of SQLite's instructions pass between two checks of the limits: some
// 20 us.
constexpr int kInstructionsPerCheck = 1000;
// The longest text or blob. With it, no single instruction can take much
// memory. Time it can: instr and replace compare everywhere (see query.h).
constexpr int kMaxValueBytes = 64 << 20;
constexpr int kMaxPatternBytes = 1000;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
  }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

std::string Seconds(DurationNs ns) {
  return absl::StrCat(static_cast<double>(ns) / 1e9, " s");
}

QueryValue ValueOf(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return std::monostate();
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    default: {
      const auto* const bytes =
          static_cast<const char*>(sqlite3_column_blob(statement, column));
      const auto size =
          static_cast<size_t>(sqlite3_column_bytes(statement, column));
      return bytes == nullptr ? std::string() : std::string(bytes, size);
    }
  }
}

// What a QueryResult needs for the row.
int64_t BytesOf(std::span<const QueryValue> row) {
  size_t bytes = sizeof(std::vector<QueryValue>) + row.size_bytes();
  for (const QueryValue& value : row) {
    const auto* const text = std::get_if<std::string>(&value);
    if (text != nullptr) bytes += text->capacity();
  }
  return static_cast<int64_t>(bytes);
}

// Whether there is anything but spaces, comments and semicolons.
bool IsBlank(sqlite3* database, std::string_view sql) {
  while (!sql.empty()) {
    sqlite3_stmt* made = nullptr;
    const char* rest = nullptr;
    const int rc = sqlite3_prepare_v2(
        database, sql.data(), static_cast<int>(sql.size()), &made, &rest);
    const Statement statement(made);
    if (rc != SQLITE_OK || made != nullptr) return false;
    const auto used = static_cast<size_t>(rest - sql.data());
    if (used == 0) return true;
    sql.remove_prefix(used);
  }
  return true;
}

}  // namespace

class TraceQueries::Engine {
 public:
  Engine(const model::Trace& trace, const QueryLimits& limits)
      : limits_(limits), tables_(trace), modules_(tables_) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  absl::Status Open();
  absl::Status Run(std::string_view sql, const OnColumns& on_columns,
                   const OnRow& on_row);
  void Cancel() noexcept { is_cancelled_.store(true); }
  const QueryLimits& limits() const { return limits_; }

 private:
  absl::Status ConnectTables();
  absl::Status Execute(const char* sql);
  absl::StatusOr<Statement> Prepare(std::string_view sql);
  absl::Status Step(Statement& statement, std::string_view sql,
                    const OnRow& on_row);
  // The error of SQLite's last call.
  absl::Status Error(std::string_view sql, int rc);
  absl::Status TooMuchMemory() const;

  static int IsOverLimit(void* self) {
    return static_cast<Engine*>(self)->CheckLimits() ? 1 : 0;
  }
  bool CheckLimits();

  const QueryLimits limits_;
  const tables::TraceTables tables_;
  query::TableModules modules_;
  query::ReadOnly read_only_;
  // Closed before what it uses.
  std::unique_ptr<sqlite3, CloseDatabase> database_;

  std::atomic<bool> is_cancelled_{false};
  Clock::time_point deadline_;
  int64_t memory_at_start_ = 0;
  absl::Status over_limit_;  // why the query was ended
};

absl::Status TraceQueries::Engine::Open() {
  sqlite3* made = nullptr;
  const int rc = sqlite3_open_v2(":memory:", &made,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                     SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
                                 nullptr);
  database_.reset(made);
  if (rc != SQLITE_OK) {
    return absl::ResourceExhaustedError(
        absl::StrCat("could not start SQLite: ", sqlite3_errstr(rc)));
  }
  sqlite3_limit(made, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_limit(made, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kMaxPatternBytes);
  sqlite3_limit(made, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_db_config(made, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Sorting in files would fill the disk, which no limit watches.
  KYMO_RETURN_IF_ERROR(Execute("PRAGMA temp_store = MEMORY"));
  KYMO_RETURN_IF_ERROR(modules_.AddTo(made));
  KYMO_RETURN_IF_ERROR(query::AddFunctions(tables_, made));
  for (const query::View& view : query::Views()) {
    KYMO_RETURN_IF_ERROR(Execute(std::string(view.sql).c_str()));
  }
  KYMO_RETURN_IF_ERROR(ConnectTables());
  read_only_.Watch(made);
  sqlite3_progress_handler(made, kInstructionsPerCheck, IsOverLimit, this);
  return absl::OkStatus();
}

// SQLite declares a virtual table when a statement first names it, by a CREATE
// TABLE, which would then be denied. This PRAGMA names it without planning a
// query: a plan asks for the number of rows, and some tables count them in a
// pass over the trace.
absl::Status TraceQueries::Engine::ConnectTables() {
  std::vector<std::string> names = {"json_each", "json_tree",
                                    "pragma_table_info", "pragma_table_list"};
  for (const tables::Table& table : tables::AllTables()) {
    names.emplace_back(table.name);
  }
  for (const std::string& name : names) {
    KYMO_RETURN_IF_ERROR(
        Execute(absl::StrCat("PRAGMA table_info(", name, ")").c_str()));
  }
  return absl::OkStatus();
}

absl::Status TraceQueries::Engine::Execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) ==
      SQLITE_OK) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat(sql, ": ", sqlite3_errmsg(database_.get())));
}

absl::Status TraceQueries::Engine::TooMuchMemory() const {
  return absl::ResourceExhaustedError(
      absl::StrCat("the query needs more than ", limits_.max_memory_bytes >> 20,
                   " MiB; try to sort or group fewer rows, or a higher limit"));
}

bool TraceQueries::Engine::CheckLimits() {
  if (is_cancelled_.load() ||
      (limits_.is_cancelled != nullptr && limits_.is_cancelled())) {
    over_limit_ = absl::CancelledError("the query was cancelled");
  } else if (limits_.max_time_ns > 0 && Clock::now() > deadline_) {
    over_limit_ = absl::DeadlineExceededError(absl::StrCat(
        "the query took longer than ", Seconds(limits_.max_time_ns),
        "; try fewer rows (LIMIT stops early only without ORDER BY), or a "
        "higher limit"));
  } else if (limits_.max_memory_bytes > 0 &&
             sqlite3_memory_used() - memory_at_start_ >
                 limits_.max_memory_bytes) {
    over_limit_ = TooMuchMemory();
  }
  return !over_limit_.ok();
}

absl::Status TraceQueries::Engine::Error(std::string_view sql, int rc) {
  if (!over_limit_.ok()) return over_limit_;
  const std::string denied = read_only_.TakeDenied();
  if (!denied.empty()) {
    return absl::PermissionDeniedError(absl::StrCat(
        "a query can only read, with SELECT; not permitted: ", denied));
  }
  if (rc == SQLITE_NOMEM) return TooMuchMemory();
  if (rc == SQLITE_TOOBIG) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a value of the query would have more than ",
                     kMaxValueBytes >> 20, " MiB"));
  }
  const std::string message = sqlite3_errmsg(database_.get());
  int offset = sqlite3_error_offset(database_.get());
  if (offset < 0) offset = query::OffsetOfName(sql, message);
  return absl::InvalidArgumentError(
      absl::StrCat(message, query::PlaceInQuery(sql, offset)));
}

absl::StatusOr<Statement> TraceQueries::Engine::Prepare(std::string_view sql) {
  sqlite3_stmt* made = nullptr;
  const char* rest = sql.data();
  // The statement ends with the text, wherever that has a zero.
  if (sql.find('\0') != sql.npos || sql.size() > kMaxValueBytes) {
    return absl::InvalidArgumentError(sql.size() > kMaxValueBytes
                                          ? "the query is too long"
                                          : "the query has a character U+0000");
  }
  const int rc = sqlite3_prepare_v2(database_.get(), sql.data(),
                                    static_cast<int>(sql.size()), &made, &rest);
  Statement statement(made);
  if (rc != SQLITE_OK) return Error(sql, rc);
  if (made == nullptr) {
    return absl::InvalidArgumentError("the query is empty");
  }
  const auto used = static_cast<size_t>(rest - sql.data());
  if (!IsBlank(database_.get(), sql.substr(used))) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is more than one statement; give one at a time",
                     query::PlaceInQuery(sql, static_cast<int>(used))));
  }
  if (sqlite3_column_count(made) == 0) {
    return absl::PermissionDeniedError("a query can only read, with SELECT");
  }
  if (sqlite3_bind_parameter_count(made) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the query has a parameter (",
                     sqlite3_bind_parameter_name(made, 1) == nullptr
                         ? "?"
                         : sqlite3_bind_parameter_name(made, 1),
                     "), which nothing gives a value; write the value"));
  }
  return statement;
}

absl::Status TraceQueries::Engine::Step(Statement& statement,
                                        std::string_view sql,
                                        const OnRow& on_row) {
  std::vector<QueryValue> row(
      static_cast<size_t>(sqlite3_column_count(statement.get())));
  while (true) {
    const int rc = sqlite3_step(statement.get());
    if (rc == SQLITE_DONE) return absl::OkStatus();
    if (rc != SQLITE_ROW) return Error(sql, rc);
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = ValueOf(statement.get(), static_cast<int>(i));
    }
    KYMO_RETURN_IF_ERROR(on_row(row));
  }
}

absl::Status TraceQueries::Engine::Run(std::string_view sql,
                                       const OnColumns& on_columns,
                                       const OnRow& on_row) {
  is_cancelled_.store(false);
  over_limit_ = absl::OkStatus();
  read_only_.TakeDenied();
  memory_at_start_ = sqlite3_memory_used();
  if (limits_.is_alone && limits_.max_memory_bytes > 0) {
    sqlite3_hard_heap_limit64(memory_at_start_ + limits_.max_memory_bytes);
  }
  deadline_ = Clock::now() + std::chrono::nanoseconds(limits_.max_time_ns);
  KYMO_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  std::vector<std::string> columns;
  for (int i = 0; i < sqlite3_column_count(statement.get()); ++i) {
    const char* const name = sqlite3_column_name(statement.get(), i);
    columns.emplace_back(name == nullptr ? "" : name);
  }
  KYMO_RETURN_IF_ERROR(on_columns(std::move(columns)));
  return Step(statement, sql, on_row);
}

absl::StatusOr<TraceQueries> TraceQueries::Open(const model::Trace& trace,
                                                const QueryLimits& limits) {
  auto engine = std::make_unique<Engine>(trace, limits);
  KYMO_RETURN_IF_ERROR(engine->Open());
  return TraceQueries(std::move(engine));
}

TraceQueries::TraceQueries(std::unique_ptr<Engine> engine)
    : engine_(std::move(engine)) {}
TraceQueries::TraceQueries(TraceQueries&&) noexcept = default;
TraceQueries& TraceQueries::operator=(TraceQueries&&) noexcept = default;
TraceQueries::~TraceQueries() = default;

absl::Status TraceQueries::Run(std::string_view sql,
                               const OnColumns& on_columns,
                               const OnRow& on_row) {
  return engine_->Run(sql, on_columns, on_row);
}

absl::StatusOr<QueryResult> TraceQueries::Run(std::string_view sql) {
  QueryResult result;
  const int64_t limit = limits().max_memory_bytes;
  int64_t bytes = 0;
  KYMO_RETURN_IF_ERROR(engine_->Run(
      sql,
      [&](std::vector<std::string> columns) {
        result.columns = std::move(columns);
        return absl::OkStatus();
      },
      [&](std::span<const QueryValue> row) {
        result.rows.emplace_back(row.begin(), row.end());
        bytes += BytesOf(row);
        if (limit == 0 || bytes <= limit) return absl::OkStatus();
        return absl::ResourceExhaustedError(
            absl::StrCat("the result takes more than ", limit >> 20,
                         " MiB; take it row by row, or with LIMIT"));
      }));
  return result;
}

const QueryLimits& TraceQueries::limits() const { return engine_->limits(); }

void TraceQueries::Cancel() noexcept { engine_->Cancel(); }

absl::StatusOr<QueryResult> Query(const model::Trace& trace,
                                  std::string_view sql) {
  KYMO_ASSIGN_OR_RETURN(TraceQueries queries, TraceQueries::Open(trace));
  return queries.Run(sql);
}

}  // namespace kymo
