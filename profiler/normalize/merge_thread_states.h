// merge_thread_states.h - makes one of the thread times and waits of several
// shards.
//
//   ThreadStatesMerger merger;
//   merger.Add(*shard.thread_states, ids);   // each shard, in any order
//   model::ThreadStates merged =
//       merger.Finish({.start_ns = start_ns, .end_ns = end_ns}, ledger);
//
// Times and sums of one thread are added up. Each part of a trace that was
// split has those of the whole recording: normalize.cc keeps the first part's.
// Equal waits count once, as two parts may have the same. Of several limits of
// CPU time, the one that stopped threads most is kept.
//
// Threads: none.
#ifndef KYMO_PROFILER_NORMALIZE_MERGE_THREAD_STATES_H_
#define KYMO_PROFILER_NORMALIZE_MERGE_THREAD_STATES_H_

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"

namespace kymo {

class ThreadStatesMerger {
 public:
  // By an id of a shard: the trace's.
  struct Ids {
    std::span<const model::TrackIndex> tracks;
    std::span<const model::StackId> stacks;
    std::span<const model::NameId> names;
  };
  struct Window {
    TimeNs start_ns = 0;
    TimeNs end_ns = 0;
  };

  // Several entries of one track become their sum: the kernel gives a thread's
  // number again when the thread has ended.
  void Add(const model::ThreadStates& from, const Ids& ids);

  // One entry of times for each track, by track. Waits are cut to the window,
  // and to the end of the thread's wait before. One of which nothing is left is
  // counted: it is out of the window, or overlaps another one. Call this once.
  model::ThreadStates Finish(const Window& window, model::LossLedger& ledger);

 private:
  void AddTimes(const model::ThreadStates& from, const Ids& ids);
  void AddSums(const model::ThreadStates& from, const Ids& ids);
  std::vector<model::Wait> MergedWaits(const Window& window,
                                       model::LossLedger& ledger);

  uint32_t cpu_count_ = 0;
  model::CpuLimit cpu_limit_;
  DurationNs kymo_cpu_ns_ = 0;
  DurationNs min_wait_ns_ = 0;
  std::map<model::TrackIndex, model::ThreadTimes> times_;
  std::vector<model::WaitSum> sums_;
  std::vector<model::Wait> waits_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_MERGE_THREAD_STATES_H_
