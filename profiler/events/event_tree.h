// event_tree.h - which event ran inside which, as PyTorch finds it.
//
//   std::vector<FunctionEvent> events = ...;
//   KYMO_RETURN_IF_ERROR(BuildEventTree(events));
//   events[*events[1].cpu_parent].name ...
//
// Three steps:
//
// 1. Nesting. Synchronous CPU events are sorted by thread and split where
//    thread or node changes (stable, so that nodes which interleave on one
//    thread lose their nesting, as in PyTorch). In each run, by (start, longer
//    first), an event's parent is the innermost earlier one that is still open
//    at its start and does not end before it:
//
//      A [0,10]  B [1,3]  C [3,4]   B and C in A: B is over when C starts
//      A [0,10]  B [2,12] D [3,5]   B is a root, D in B
//      A [0,10]  B [1,5]  C [4,8]   B and C in A; self times may overlap
//      A [0,10]  B [0,10]           B, later in the list, is in A
//
// 2. Duplicates. An event that is the only child of an event of its own name
//    is deleted; its children and kernels replace the parent's. A caller may
//    keep them instead: profiler/analysis/averages/duplicates.h says when.
//
// 3. Stacks of backward events. They take the stack of the first event outside
//    of backward with the sequence number (-1 included) and thread of their
//    forward operation, or become empty.
//
// Cost: sorting aside linear; deep chains take no recursion.
// Errors: an event with a parent already is kFailedPrecondition, and so is a
//   backward event without fwd_thread; the events are then partly linked.
#ifndef KYMO_PROFILER_EVENTS_EVENT_TREE_H_
#define KYMO_PROFILER_EVENTS_EVENT_TREE_H_

#include <vector>

#include "absl/status/status.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/events/function_event.h"

namespace kymo {

// In which order step 1 takes the events of a run.
enum class NestingOrder {
  kLongerFirst,  // by (start, longer first), as PyTorch
  // By (start, id). Ids in the order of recording: a range that began and ended
  // in one tick of a coarse clock is then in none that follows it.
  kById,
};

absl::Status BuildEventTree(
    std::vector<FunctionEvent>& events,
    analysis::Duplicates duplicates = analysis::Duplicates::kMerge,
    NestingOrder order = NestingOrder::kLongerFirst);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_EVENT_TREE_H_
