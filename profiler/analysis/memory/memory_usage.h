// memory_usage.h - how much memory each operation allocated.
//
//   const MemoryUsage usage = MeasureMemoryUsage(trace);
//   usage.cpu_bytes[event]    // while the event was open, children included
//
// A memory record belongs to the operations that were open on its thread when
// it happened, bounds included. (PyTorch also charges operations of other
// threads; profiler/events/raw_events.h can do either.) Frees count negative.
// Records while no operation was open are `unattributed`. Failed allocations do
// not count.
//
// The host's memory is counted once: by the heap's records if the heap was
// watched, else by the program's reports. Mappings do not count. A sampled
// allocation counts for all that it stands for.
//
// Folded memory (profiler/model/folded_memory.h) counts as the heap's records
// do.
//
// Cost: linear in events and records, in parallel over tracks.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_USAGE_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_USAGE_H_

#include <cstdint>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct MemoryUsage {
  // One entry per event of the trace; both are empty if it has no memory
  // records, single or folded.
  std::vector<int64_t> cpu_bytes;
  std::vector<int64_t> device_bytes;
  // Positions in trace.memory(), ascending.
  std::vector<uint32_t> unattributed;
  // The same of folded memory, which has no positions.
  struct {
    int64_t count = 0;  // allocations and frees
    int64_t bytes = 0;
    TimeNs first_ns = 0;  // of them, if there are any
  } unattributed_folded;
};

// The bytes that a record counts for. For a sample, these are the bytes of all
// allocations that it stands for.
int64_t ChargedBytes(const model::Trace& trace, model::MemoryIndex record);

bool IsHostMemory(const model::MemoryRecord& record);

// The source by which the host's memory is counted.
model::MemorySource HostSource(const model::Trace& trace);

MemoryUsage MeasureMemoryUsage(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_USAGE_H_
