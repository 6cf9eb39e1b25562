// call_tree.h - time that each event spent itself, not in its children.
//
//   const Column<DurationNs> self = SelfTimes(trace);
//
// The tree itself is the trace's parent column. The self time of a range is
// its duration minus the sum of the durations of its direct children; for
// children that overlap each other it may be negative, as in PyTorch.
// Instants have none, and asynchronous ranges neither (as in PyTorch): both
// count 0, and neither takes time from anything.
//
// Cost: one linear pass, in parallel. The result does not depend on the number
//   of threads.
#ifndef KYMO_PROFILER_ANALYSIS_CALL_TREE_H_
#define KYMO_PROFILER_ANALYSIS_CALL_TREE_H_

#include "profiler/base/column.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// One entry per event of the trace, in its order.
Column<DurationNs> SelfTimes(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_CALL_TREE_H_
