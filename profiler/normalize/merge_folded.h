// merge_folded.h - makes one of the folded memory of several shards.
//
//   MapFolded(tracks, stacks, *shard.folded_memory);
//   MergeFolded(std::move(*shard.folded_memory), folded);
//
// Cost: linear. Threads: none.
#ifndef KYMO_PROFILER_NORMALIZE_MERGE_FOLDED_H_
#define KYMO_PROFILER_NORMALIZE_MERGE_FOLDED_H_

#include <span>

#include "profiler/model/folded_memory.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"

namespace kymo {

// Moves sums, changes and blocks to the trace's tracks and stacks, which stand
// by the shard's numbers in `tracks` and `stacks`. Several tracks of the shard
// may be one of the trace, and several stacks one.
void MapFolded(std::span<const model::TrackIndex> tracks,
               std::span<const model::StackId> stacks,
               model::FoldedMemory& memory);

// Adds the heaps of `from`, and adds up the curves of all heaps: ns and bytes.
// Each moment of the two counts as one of its own.
// REQUIRES: both have the tracks of one trace.
void MergeFolded(model::FoldedMemory from, model::FoldedMemory& into);

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_MERGE_FOLDED_H_
