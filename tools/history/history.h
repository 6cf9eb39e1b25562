// history.h - the runs at which rows changed for good.
//
//   const HistoryChanges changes = FindChanges(history);
//   for (const HistoryChange& c : changes.changes) {
//     Print(history.runs[c.run].name, c.key.name, c.confidence);
//   }
//
// profiler/analysis/statistics/change_points.h says how. Of times, the speed
// that a run's rows have in common is taken out first, if there are eight rows
// or more: so a faster machine changes the sum of all times, and no row. All
// tested rows share the 5 % of histories in which nothing changed, and a change
// is found nevertheless. Rows below 0.1 % of their table's time are left out.
// Runs that did not watch the heap, or took no samples, are missing from the
// curves of these.
#ifndef KYMO_TOOLS_HISTORY_HISTORY_H_
#define KYMO_TOOLS_HISTORY_HISTORY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "profiler/analysis/statistics/change_points.h"
#include "tools/history/history_store.h"
#include "tools/run_diff/run_key.h"

namespace kymo::tools {

struct HistoryChange {
  RunKey key;
  size_t run = 0;               // the first that is different
  analysis::ChangePoint point;  // of the curve
  double confidence = 0;  // corrected for all rows; 1 for counts that repeat
};

// A row that changed, with what its changes were found in.
struct HistoryCurve {
  RunKey key;
  std::vector<size_t> runs;     // those in which it was measured
  std::vector<double> amounts;  // of these
  std::vector<HistoryChange> changes;
};

struct HistoryChanges {
  std::vector<HistoryChange> changes;  // the latest run first, then the largest
  std::vector<HistoryCurve> curves;    // by table and name
  size_t tested = 0;                   // rows
};

HistoryChanges FindChanges(const RunHistory& history);

// "99.40 %"; "sure" of a count that repeats.
std::string ConfidenceText(double confidence);

std::string HistoryText(const RunHistory& history,
                        const HistoryChanges& changes, RunFormat format);

// One HTML file with a curve for each row that changed. It needs no network and
// no script; names of the program stand in it as text.
std::string HistoryPage(const RunHistory& history,
                        const HistoryChanges& changes);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_HISTORY_HISTORY_H_
