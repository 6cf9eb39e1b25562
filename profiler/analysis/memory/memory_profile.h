// memory_profile.h - who allocated, how much, when, and what never came back.
//
//   for (const MemoryProfile& profile : ProfileMemory(trace)) {
//     Print(profile.pool.pid, profile.totals.allocated_bytes);
//     Print(profile.peak.by_stack.front(), profile.leaks.front());
//   }
//
// One profile for each process, source and device (memory_pools.h), which are
// never added to one another. Only blocks that were allocated within the
// recording are known. A sampled allocation counts for those that it stands
// for: then all numbers are estimates.
//
// - A block whose address came again was freed where nobody saw it. It counts
//   as freed then, not as leaked, but how long it lived is not known.
// - A block is leaked if it was not freed when the recording ended, even if the
//   program still needed it. Blocks that the C and C++ runtime keeps for itself
//   are not leaked. A mapping that is unmapped in parts counts as whole.
// - Temporary is a block that its own thread frees without an allocation of the
//   same pool in between. heaptrack's rule, by thread. Samples do not know what
//   was in between: of them there are none.
//
// Cost: passes over the records, parallel; the result does not depend on the
//   number of threads. Memory beside the result: see live_bytes.h.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_PROFILE_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/analysis/memory/memory_groups.h"
#include "profiler/analysis/memory/memory_peak.h"
#include "profiler/analysis/memory/memory_pools.h"
#include "profiler/analysis/memory/memory_steps.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// Where the numbers of a profile come from.
enum class MemoryDetail : uint8_t {
  kRecords,  // every allocation has its record
  kSamples,  // some have; the numbers are estimates
  kCounts,   // none has: there are totals, without freed and alive bytes
};

struct MemoryTotals {
  int64_t allocations = 0;
  int64_t frees = 0;
  int64_t allocated_bytes = 0;
  int64_t freed_bytes = 0;
  int64_t alive_bytes = 0;    // at the end
  int64_t out_of_memory = 0;  // allocations that failed; never estimated

  friend bool operator==(const MemoryTotals&, const MemoryTotals&) = default;
};

// Blocks that the C and C++ runtime keeps for itself.
struct RuntimeKept {
  int64_t count = 0;
  int64_t bytes = 0;

  friend bool operator==(const RuntimeKept&, const RuntimeKept&) = default;
};

struct TemporaryAllocations {
  int64_t count = 0;
  int64_t bytes = 0;
  std::vector<StackMemory> by_stack;  // largest first

  friend bool operator==(const TemporaryAllocations&,
                         const TemporaryAllocations&) = default;
};

// Entry 0 counts zeros, entry n those from 2^(n-1) up to, not with, 2^n.
using PowerHistogram = std::array<int64_t, 64>;

// The least value that entry n counts.
constexpr int64_t HistogramBegin(size_t n) {
  return n == 0 ? 0 : int64_t{1} << (n - 1);
}

struct MemoryProfile {
  MemoryPool pool;
  MemoryDetail detail = MemoryDetail::kRecords;
  MemoryTotals totals;
  MemoryPeak peak;
  std::vector<StackMemory> leaks;  // largest first
  // Alive as well, but no leaks: see runtime_memory.h.
  RuntimeKept runtime_kept;
  TemporaryAllocations temporary;
  PowerHistogram sizes = {};      // blocks by bytes
  PowerHistogram lifetimes = {};  // blocks whose free was seen, by ns
  std::vector<MemoryStep> steps;

  friend bool operator==(const MemoryProfile&, const MemoryProfile&) = default;
};

// By pool, ascending. Empty where the trace tells nothing about memory.
std::vector<MemoryProfile> ProfileMemory(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_PROFILE_H_
