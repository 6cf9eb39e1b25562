// duplicates.h - ranges that PyTorch merges into the range around them.
//
//   add [0, 10]            add [0, 10]
//     add [1, 9]      ->     mul [3, 4]
//       mul [3, 4]
//
// A range is a duplicate if the range around it has the same name and no other
// child. PyTorch's event list drops such a range and gives its children to the
// range around it (remove_dup_nodes); its averages count the two once. Instants
// and asynchronous ranges are nobody's children here.
//
// In other programs such a range is a recursive call, which took place and
// counts. So the rule holds only for what is PyTorch's: its functions, such as
// key_averages() of a session, and the traces that it recorded.
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_DUPLICATES_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_DUPLICATES_H_

#include <cstdint>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::analysis {

// The treatment of such ranges.
enum class Duplicates {
  kKeep,   // count them: recursion shows as often as it happened
  kMerge,  // as PyTorch: each and the range around it are one
};

// kMerge for traces that PyTorch recorded, kKeep for all others.
Duplicates DuplicatesOf(const model::Trace& trace);

// One entry per event of the trace: 1 for duplicates, else 0. Linear.
std::vector<uint8_t> DuplicateRanges(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_DUPLICATES_H_
