// memory_by_stack.h - the memory that each stack allocated, by process, source
// and device.
//
//   for (const MemoryByStack& row : SumMemoryByStack(trace)) {
//     Print(row.pool.pid, row.stack, row.allocated.bytes, row.alive.bytes);
//   }
//
// Numbers are those of profiler/analysis/memory/memory_profile.h: a sampled
// allocation counts for all that it stands for, and folded memory counts as its
// records would. Here, memory that the C and C++ runtime keeps for itself is
// alive like any other.
#ifndef KYMO_PROFILER_TABLES_MEMORY_BY_STACK_H_
#define KYMO_PROFILER_TABLES_MEMORY_BY_STACK_H_

#include <cstdint>
#include <vector>

#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::tables {

struct MemoryByStack {
  int64_t pid = 0;
  model::MemorySource source = model::MemorySource::kHeap;
  int8_t device_type = 0;
  int8_t device_index = -1;
  model::StackId stack = model::kEmptyStack;
  analysis::MemoryAmount allocated;
  analysis::MemoryAmount alive;  // at the end of the recording
};

// By the members, in their order.
std::vector<MemoryByStack> SumMemoryByStack(const model::Trace& trace);

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_MEMORY_BY_STACK_H_
