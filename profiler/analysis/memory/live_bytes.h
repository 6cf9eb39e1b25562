// live_bytes.h - how many bytes of a pool were alive after each record.
//
//   const MemoryPools pools(trace);
//   const LiveBytes live(trace, pools);
//   live.After(i)                               // with those of all threads
//
// Only blocks that were allocated within the recording count. The heap's
// records know this sum already (MemoryRecord::total_allocated). For mappings
// and reports it is made here, from the bytes allocated less the bytes freed:
// the total that a program reports may contain memory that the recording did
// not see.
//
// Threads: immutable once made.
// Memory: nothing for the heap. If there are mappings or reports: 8 bytes for
//   every record, and while it is made 16 more for each record of a mapping or
//   report.
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
  // `trace` and `pools` must outlive this.
  LiveBytes(const model::Trace& trace, const MemoryPools& pools);

  // REQUIRES: the record is not a failed allocation.
  int64_t After(model::MemoryIndex record) const {
    const model::MemoryRecord& r = trace_.memory()[record];
    return r.source == model::MemorySource::kHeap ? r.total_allocated
                                                  : sums_[record];
  }

 private:
  const model::Trace& trace_;
  Column<int64_t> sums_;  // by record; empty if all are the heap's
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_LIVE_BYTES_H_
