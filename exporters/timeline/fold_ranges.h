// fold_ranges.h - a smaller trace with the same sums: short ranges folded.
//
//   const FoldedTrace folded = FoldShortRanges(trace, trace.event_count() / 2);
//   folded.trace, folded.ranges   // 9,876,543 ranges are shown as fewer
//
//   before   [parent                          ]
//             a b a b a b  [long]  a a
//   after    [parent                          ]
//             [a  ][b  ]   [long]  [a]         3 a, 3 b; 2 a
//
// Neighbours that are short, have no children and nothing but a name become one
// range for each name. It has the flag kEventFolded, the number of ranges in
// RareDetail::calls, and the sum of their lengths. These ranges follow each
// other from the first start on. So calls, times and self times by name and by
// path stay exact; the times of single ranges are lost. Ranges with details
// (inputs, arguments, correlation) stay, and so do those that are among the
// longest.
//
// Nothing is folded across a report of memory, so the memory of each name stays
// exact. Records of the heap do not count here, because they are too many: who
// shows the folded trace leaves them out. Samples stay where they are. A sample
// within folded ranges may thus be in one of another name, or beside them;
// their parent is the same. So is the step of a range within a step's range. If
// the step is on another thread, a range that ran near the step's end may count
// in a neighbouring step.
//
// The result depends on nothing but the arguments. Cost: linear.
#ifndef KYMO_EXPORTERS_TIMELINE_FOLD_RANGES_H_
#define KYMO_EXPORTERS_TIMELINE_FOLD_RANGES_H_

#include <cstddef>
#include <cstdint>

#include "profiler/model/trace.h"

namespace kymo::timeline {

struct FoldedTrace {
  model::Trace trace;
  uint64_t ranges = 0;  // that are shown as one with others
};

// Aims at `keep` events. More stay if they cannot be folded.
FoldedTrace FoldShortRanges(const model::Trace& trace, size_t keep);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_FOLD_RANGES_H_
