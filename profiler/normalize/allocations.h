// allocations.h - which free belongs to which allocation.
//
//   PairAllocations(data, replacements);   // what records cannot know
//
// A record is made on one thread, its block may be freed on another one. Here
// the records of all threads meet: within one process (between two execs) and
// one source, blocks are told apart by address and time.
//
// - A free of the heap gets the bytes of its block; both get their partner.
// - A free of a block that nobody allocated within the recording is dropped and
//   counted (kFreesOfUnknownBlocks): nothing is known but that it was.
// - A block whose address is allocated again without a free was freed where
//   nobody saw it (kFreesNotSeen): it ends when the next one begins.
// - total_allocated of the heap and of mappings is their running sum in the
//   process, estimated where allocations are sampled. Reports keep their own.
// - Reports and mappings say the bytes that they free; they are partners only
//   where these are those of the block. A mapping that is unmapped in parts, or
//   that another one is put over, stays alive as a whole.
//
// Cost: two sorts of the records, in parallel, and at most 16 bytes a record or
//   512 MiB on top of them. The result does not depend on the number of
//   threads.
#ifndef KYMO_PROFILER_NORMALIZE_ALLOCATIONS_H_
#define KYMO_PROFILER_NORMALIZE_ALLOCATIONS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo {

// When programs took the place of another one in a process, in order; by pid.
// An exec keeps the pid and begins a new heap.
using ProgramReplacements = std::map<int64_t, std::vector<TimeNs>>;

// REQUIRES: the records are sorted by track and time.
void PairAllocations(model::TraceData& data,
                     const ProgramReplacements& replacements = {});

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_ALLOCATIONS_H_
