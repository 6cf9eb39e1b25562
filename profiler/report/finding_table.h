// finding_table.h - findings as a table, and as sentences for people.
//
//   const ValueTable table = FindingTable(trace);
//   FindingsText(trace, {.row_limit = 3, .width = 100})
//
//   1. Parse took 62 % of the CPU time (1.21 s); 80 % of that when Read called
//      it
//      See: stack main > Read > Parse
//      Next: Look at its callers in the flame graph, callees first: make it
//      cheaper, or call it less often
//
// profiler/analysis/findings/findings.h finds them.
#ifndef KYMO_PROFILER_REPORT_FINDING_TABLE_H_
#define KYMO_PROFILER_REPORT_FINDING_TABLE_H_

#include <cstddef>
#include <string>

#include "profiler/analysis/findings/finding.h"
#include "profiler/model/trace.h"
#include "profiler/report/value_table.h"

namespace kymo::report {

// A row for each finding, the one with most at stake first. Times count from
// FirstTimeNs (profiler/analysis/first_time.h).
ValueTable FindingTable(const model::Trace& trace);

struct FindingsTextOptions {
  int row_limit = -1;  // negative: all
  size_t width = 100;  // code points
};

// Without control characters. Empty without findings.
std::string FindingsText(const model::Trace& trace,
                         const FindingsTextOptions& options);

// "stack main > Read > Parse", "310 us on thread main (7) from 1.20 s on".
// Texts of the target are as they are.
std::string EvidenceText(const model::Trace& trace,
                         const analysis::Evidence& evidence);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_FINDING_TABLE_H_
