// allocations.h - which free belongs to which allocation.
//
//   PairAllocations(data, replacements);
//
// One thread records an allocation; another thread may free the block.
// PairAllocations sees the records of all threads. Within one process (between
// two execs) and one source, it tells blocks apart by address and time.
//
// - A free of the heap gets the bytes of its block. The two records become each
//   other's partners.
// - A free of a block that nobody allocated within the recording is dropped and
//   counted (kFreesOfUnknownBlocks), since nothing else is known of the block.
// - If an address is allocated again without a free, nobody saw the free
//   (kFreesNotSeen): the block ends when the next one begins.
// - An exec ends all blocks of the heap and all mappings: the first one of the
//   next program does. Nobody expects frees of them.
// - total_allocated of the heap and of mappings is their running sum in the
//   process, estimated where allocations are sampled. Reports keep their own
//   totals.
// - Reports and mappings say how many bytes they free. They get a partner only
//   if these are the bytes of the block. A mapping that is unmapped in parts,
//   or that another mapping is put over, stays alive as a whole.
//
// Cost: two sorts of the records, in parallel. Memory beside the records: at
//   most 16 bytes a record or 512 MiB, whichever is more. The result does not
//   depend on the number of threads.
#ifndef KYMO_PROFILER_NORMALIZE_ALLOCATIONS_H_
#define KYMO_PROFILER_NORMALIZE_ALLOCATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo {

// By pid: the times, in order, at which another program replaced the process's
// program. An exec keeps the pid and begins a new heap.
using ProgramReplacements = std::map<int64_t, std::vector<TimeNs>>;

// About so many records are sorted at a time, which limits the memory.
inline constexpr size_t kRecordsPerPart = size_t{16} << 20;

// REQUIRES: the records are sorted by track and time.
void PairAllocations(model::TraceData& data,
                     const ProgramReplacements& replacements = {},
                     size_t records_per_part = kRecordsPerPart);

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_ALLOCATIONS_H_
