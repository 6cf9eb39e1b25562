// memory_profile.h - who allocated how much and when, and what was never freed.
//
//   for (const MemoryProfile& profile : ProfileMemory(trace)) {
//     Print(profile.pool.pid, profile.totals.allocated_bytes);
//     Print(profile.peak.by_stack.front(), profile.leaks.front());
//   }
//
// Each process, source and device has a profile of its own (memory_pools.h);
// profiles are never added to one another. Only blocks that were allocated
// within the recording are known. A sampled allocation counts for all that it
// stands for: then all numbers are estimates.
//
// - If a block's address is allocated again, the block was freed where nobody
//   saw it. It counts as freed at that time, not as leaked. Its lifetime is not
//   known.
// - A block is leaked if it was not freed when the recording ended, even if the
//   program still needed it. Blocks that the C and C++ runtime keeps for itself
//   are not leaked. A mapping that is unmapped in parts counts as whole.
// - A temporary block is one that its own thread frees with no other allocation
//   of the same pool in between: heaptrack's rule, by thread. Sampled heaps
//   have none, since samples do not know what was in between.
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

// The source of a profile's numbers.
enum class MemoryDetail : uint8_t {
  kRecords,  // every allocation has its record
  kSamples,  // some have one; the numbers are estimates
  kCounts,   // none has: totals only, without freed and alive bytes
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

// Entry 0 counts zeros. Entry n counts values v with 2^(n-1) <= v < 2^n.
using PowerHistogram = std::array<int64_t, 64>;

// The smallest value that entry n counts.
constexpr int64_t HistogramBegin(size_t n) {
  return n == 0 ? 0 : int64_t{1} << (n - 1);
}

struct MemoryProfile {
  MemoryPool pool;
  MemoryDetail detail = MemoryDetail::kRecords;
  MemoryTotals totals;
  MemoryPeak peak;
  std::vector<FunctionMemory> peak_by_function;  // largest first
  std::vector<StackMemory> leaks;                // largest first
  // These blocks were alive as well, but are no leaks: see runtime_memory.h.
  RuntimeKept runtime_kept;
  TemporaryAllocations temporary;
  PowerHistogram sizes = {};      // blocks by bytes
  PowerHistogram lifetimes = {};  // blocks whose free was seen, by ns
  std::vector<MemoryStep> steps;

  friend bool operator==(const MemoryProfile&, const MemoryProfile&) = default;
};

// By pool, ascending. Empty if the trace holds nothing about memory.
std::vector<MemoryProfile> ProfileMemory(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_PROFILE_H_
