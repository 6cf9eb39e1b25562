// lock_origins.h - where locks without a name come from.
//
//   LockOrigins origins;
//   origins.OnWait(lock, wait);      // each wait for a lock
//   origins.Fill(trace, locks);
//
// The allocation that a lock lies in says most of it: it is the last one before
// the first wait for the lock. Where memory was not recorded, and for locks on
// stacks, the first wait tells who uses it.
//
// Threads: none. Cost: a binary search for each allocation of the trace.
#ifndef KYMO_PROFILER_ANALYSIS_LOCK_ORIGINS_H_
#define KYMO_PROFILER_ANALYSIS_LOCK_ORIGINS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profiler/analysis/waits.h"
#include "profiler/base/time.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/trace.h"
#include "profiler/model/waits.h"

namespace kymo::analysis {

class LockOrigins {
 public:
  void OnWait(const LockWaits& lock, const model::Wait& wait);
  // Its time is not known.
  void OnWait(const LockWaits&, const model::WaitSum&) {}

  // Fills in the origins of locks that have an address and no name.
  void Fill(const model::Trace& trace, std::vector<LockWaits>& locks) const;

 private:
  struct First {
    TimeNs time_ns = 0;
    model::StackId stack = model::kEmptyStack;
  };
  using Key = std::pair<int64_t, uint64_t>;  // process, address
  std::map<Key, First> first_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_LOCK_ORIGINS_H_
