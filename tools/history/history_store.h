// history_store.h - a file with the amounts of many runs.
//
//   KYMO_RETURN_IF_ERROR(AppendRun("runs.db", {.name = "8f3c2a1"}, amounts));
//   KYMO_ASSIGN_OR_RETURN(const RunHistory history, ReadRuns("runs.db"));
//
// It is an SQLite database, so anyone can ask it with SQL:
//
//   runs(id, name, time_ns)
//   rows(id, kind, name, detail)       kind: ranges, functions, calls, heap
//   amounts(run, row, amount)          times in microseconds
//
// SQLite and not Parquet, because a run is appended each time: Parquet files
// cannot grow. Several processes may append at once; each waits for the others.
//
// Errors: kNotFound, kInvalidArgument (the file is something else), kAborted
//   (SQLite's error, such as a full disk; the file is as it was before),
//   kResourceExhausted (too many runs times rows to read).
#ifndef KYMO_TOOLS_HISTORY_HISTORY_STORE_H_
#define KYMO_TOOLS_HISTORY_HISTORY_STORE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/run_diff/run_key.h"

namespace kymo::tools {

struct HistoryRun {
  std::string name;  // a commit, for example
  int64_t time_ns = 0;
};

struct RunHistory {
  std::vector<HistoryRun> runs;  // in the order in which they were appended
  // By row: one amount for each run, 0 where the run did not have the row.
  std::map<RunKey, std::vector<double>> rows;
  // By table and run: whether the run has any row of it. Without one, nobody
  // measured it there.
  std::map<RunTable, std::vector<bool>> has_table;
};

// Makes the file if there is none.
absl::Status AppendRun(const std::string& path, const HistoryRun& run,
                       const RunAmounts& amounts);

absl::StatusOr<RunHistory> ReadRuns(const std::string& path);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_HISTORY_HISTORY_STORE_H_
