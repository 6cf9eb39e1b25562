// run_diff.h - several runs of two programs, side by side: which rows changed,
// and how sure that is.
//
//   std::vector<RunAmounts> base = {AmountsOfRun(...), ...}, head = ...;
//   const RunDiff diff = DiffRuns(base, head);
//   Print(RunDiffText(diff, RunFormat::kMarkdown, {.row_limit = 20}));
//
// Each table is a comparison of its own, corrected for its rows
// (profiler/analysis/statistics/compare_runs.h), and the tables share the 2 %
// of comparisons that may have a false alarm. Rows below 0.1 % of their table's
// time on both sides are left out: so many tests would hide what changed. Calls
// and heap amounts repeat; of rows whose runs agree, any difference is a
// change.
#ifndef KYMO_TOOLS_RUN_DIFF_RUN_DIFF_H_
#define KYMO_TOOLS_RUN_DIFF_RUN_DIFF_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/analysis/statistics/compare_runs.h"
#include "profiler/model/trace.h"
#include "profiler/report/table.h"
#include "tools/run_diff/run_key.h"

namespace kymo::tools {

// `metric` is one of the times by which diff.h compares.
void AddRanges(std::span<const report::TableRow> rows, std::string_view metric,
               RunAmounts& amounts);
void AddFunctions(std::span<const report::TableRow> rows, RunAmounts& amounts);
// Allocations, their bytes and the peak of the heap, if the trace watched it.
void AddHeap(const model::Trace& trace, RunAmounts& amounts);

struct RunDiffRow {
  RunKey key;
  double base = 0;  // medians
  double head = 0;
  analysis::ComparedRow compared;
  // It surely changed, and one side has nothing of it.
  bool is_new = false;
  bool is_gone = false;
  // Of the heap: a side has nothing of it, so most likely nobody watched it.
  bool is_not_recorded = false;
  // Runs on each side that have it.
  size_t base_has = 0;
  size_t head_has = 0;
};

struct RunDiff {
  size_t base_runs = 0;
  size_t head_runs = 0;
  // Changed ones first, then by how much.
  std::vector<RunDiffRow> rows;
  // By table: all its times together. Only of kRanges and kFunctions.
  std::map<RunTable, RunDiffRow> wholes;
  std::map<RunTable, size_t> left_out;
  std::map<RunTable, bool> is_relative;
  // Runs of base and head that have any row of the table.
  std::map<RunTable, std::pair<size_t, size_t>> runs_with;
  // The runs on a side that a change would take to be found at all.
  int fewest_runs = 0;
};

// REQUIRES: a run on each side.
RunDiff DiffRuns(std::span<const RunAmounts> base,
                 std::span<const RunAmounts> head);

// How tables look.
struct RunDiffLook {
  int row_limit = -1;  // of each table; below 0: all rows
  std::optional<int> name_width = {};
  std::string time_unit = {};  // "s", "ms" or "us"; otherwise each by its size
};

std::string RunDiffText(const RunDiff& diff, RunFormat format,
                        const RunDiffLook& look = {});

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_RUN_DIFF_RUN_DIFF_H_
