// merge_folded.h - makes one of the folded memory of two shards.
//
//   MergeFolded(std::move(*shard.folded_memory), folded);
//
// Cost: linear. Threads: none.
#ifndef KYMO_PROFILER_NORMALIZE_MERGE_FOLDED_H_
#define KYMO_PROFILER_NORMALIZE_MERGE_FOLDED_H_

#include "profiler/model/folded_memory.h"

namespace kymo {

// Adds the heaps of `from`, and adds up the curves of all heaps: ns and bytes.
// Each moment of the two counts as one of its own.
// REQUIRES: both have the tracks of one trace.
void MergeFolded(model::FoldedMemory from, model::FoldedMemory& into);

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_MERGE_FOLDED_H_
