// merge_thread_states.h - makes one of the thread times of several shards.
//
//   model::ThreadStates merged;
//   MergeThreadStates(*shard.thread_states, tracks, merged);
//
// Threads: none.
#ifndef KYMO_PROFILER_NORMALIZE_MERGE_THREAD_STATES_H_
#define KYMO_PROFILER_NORMALIZE_MERGE_THREAD_STATES_H_

#include <span>

#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"

namespace kymo {

// Adds the times of `from`, whose tracks `tracks` maps to the trace's. Several
// entries of one track become their sum: the kernel gives a thread's number
// again when the thread has ended. If `into` has the same times of a thread
// already, they count once: each part of a trace that was split has the times
// of the whole recording.
void MergeThreadStates(const model::ThreadStates& from,
                       std::span<const model::TrackIndex> tracks,
                       model::ThreadStates& into);

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_MERGE_THREAD_STATES_H_
