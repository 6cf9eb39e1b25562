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
// Detail::calls, and the sum of their lengths. These ranges follow each other
// from the first start on. So calls, times and self times by name and by path
// stay exact; the times of single ranges are lost. Ranges with details (inputs,
// arguments, correlation) stay, and so do those that are among the longest.
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
