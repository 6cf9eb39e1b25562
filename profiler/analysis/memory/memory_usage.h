// memory_usage.h - which operation allocated how much.
//
//   const MemoryUsage usage = MeasureMemoryUsage(trace);
//   usage.cpu_bytes[event]    // while the event was open, children included
//
// A memory record belongs to the operations that were open on its thread when
// it happened, bounds included. (PyTorch charges those of other threads too;
// profiler/events/raw_events.h can do either.) Frees count negative. Records
// that no operation was open for are `unattributed`, and failed allocations
// count nowhere.
//
// The host's memory is counted once: where the heap itself was watched it is
// the heap's, else what the program reported. Mappings do not count. Sampled
// allocations count for those that they stand for.
//
// Cost: linear in events and records, in parallel over tracks.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_USAGE_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_USAGE_H_

#include <cstdint>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::analysis {

struct MemoryUsage {
  // One entry per event of the trace; both empty where it has no records.
  std::vector<int64_t> cpu_bytes;
  std::vector<int64_t> device_bytes;
  // Positions in trace.memory(), ascending.
  std::vector<uint32_t> unattributed;
};

// What a record counts for: its bytes, or of a sample, those of all that it
// stands for.
int64_t ChargedBytes(const model::Trace& trace, model::MemoryIndex record);

bool IsHostMemory(const model::MemoryRecord& record);

// The source that the host's memory is counted by.
model::MemorySource HostSource(const model::Trace& trace);

MemoryUsage MeasureMemoryUsage(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_USAGE_H_
