// live_bytes.h - how many bytes of a pool were alive after each record.
//
//   const MemoryPools pools(trace);
//   const LiveBytes live(trace, pools);
//   live.After(i)                               // with those of all threads
//
// Counted are blocks that were allocated within the recording. The heap's
// records know this sum (MemoryRecord::total_allocated). Of mappings and
// reports it is made here, from bytes allocated less bytes freed: what a
// program reports as its total may contain what the recording did not see.
//
// Threads: immutable once made.
// Memory: 8 bytes a record, and while it is made 16 for each record of a
//   mapping or report, where there are such; nothing otherwise.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_LIVE_BYTES_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_LIVE_BYTES_H_

#include <cstddef>
#include <cstdint>

#include "profiler/analysis/memory/memory_pools.h"
#include "profiler/base/column.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

class LiveBytes {
 public:
  // Both must outlive this.
  LiveBytes(const model::Trace& trace, const MemoryPools& pools);

  // REQUIRES: the record is no failed allocation.
  int64_t After(model::MemoryIndex record) const {
    const model::MemoryRecord& r = trace_.memory()[record];
    return r.source == model::MemorySource::kHeap ? r.total_allocated
                                                  : sums_[record];
  }

 private:
  const model::Trace& trace_;
  Column<int64_t> sums_;  // beside the records, if some are not the heap's
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_LIVE_BYTES_H_
