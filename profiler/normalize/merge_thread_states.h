// merge_thread_states.h - makes one of the thread times of several shards.
//
//   ThreadStatesMerger merger;
//   merger.Add(*shard.thread_states, tracks);   // each shard, in any order
//   model::ThreadStates merged = merger.Sum();
//
// Threads: none.
#ifndef KYMO_PROFILER_NORMALIZE_MERGE_THREAD_STATES_H_
#define KYMO_PROFILER_NORMALIZE_MERGE_THREAD_STATES_H_

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"

namespace kymo {

class ThreadStatesMerger {
 public:
  // Adds the times of `from`, whose tracks `tracks` maps to the trace's.
  // Several entries of one track become their sum: the kernel gives a thread's
  // number again when the thread has ended. If another shard had the same times
  // of a thread, they count once: each part of a trace that was split has the
  // times of the whole recording.
  void Add(const model::ThreadStates& from,
           std::span<const model::TrackIndex> tracks);

  // One entry for each track, by track.
  model::ThreadStates Sum() const;

 private:
  uint32_t cpu_count_ = 0;
  // One entry for each shard whose times of the track are not another's.
  std::map<model::TrackIndex, std::vector<model::ThreadTimes>> by_track_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_MERGE_THREAD_STATES_H_
