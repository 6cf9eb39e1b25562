// table_module.h - makes the tables of a trace readable for SQLite.
//
//   TableModules modules(tables);
//   KYMO_RETURN_IF_ERROR(modules.AddTo(database));
//   // "select name from events" now works
//
// Each table is a virtual table of its own name. Rows are read from the columns
// of the trace; nothing is copied into the database.
//
// Ownership: `tables` and this must outlive the database.
// Threads: those of the database.
#ifndef KYMO_PROFILER_QUERY_TABLE_MODULE_H_
#define KYMO_PROFILER_QUERY_TABLE_MODULE_H_

#include <deque>

#include "absl/status/status.h"
#include "profiler/query/table_plan.h"
#include "profiler/tables/trace_tables.h"

struct sqlite3;

namespace kymo::query {

// A table as SQLite's virtual table finds it.
struct ModuleTable {
  const tables::TraceTables* tables = nullptr;
  TableIndexes indexes;
};

class TableModules {
 public:
  explicit TableModules(const tables::TraceTables& tables);
  TableModules(const TableModules&) = delete;
  TableModules& operator=(const TableModules&) = delete;

  absl::Status AddTo(sqlite3* database);

 private:
  std::deque<ModuleTable> tables_;
};

}  // namespace kymo::query

#endif  // KYMO_PROFILER_QUERY_TABLE_MODULE_H_
