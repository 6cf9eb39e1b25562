#include "profiler/analysis/memory/memory_profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/analysis/memory/live_bytes.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/memory/memory_sums.h"
#include "profiler/analysis/memory/runtime_memory.h"
#include "profiler/analysis/open_events.h"
#include "profiler/model/folded_memory.h"

namespace kymo::analysis {
namespace {

using model::MemorySource;

PowerHistogram WholeBlocks(const PowerHistogram& units) {
  PowerHistogram counts;
  std::transform(units.begin(), units.end(), counts.begin(), [](int64_t n) {
    return MemoryAmount{n, 0}.count();
  });
  return counts;
}

void SetSums(const PoolSums& sums, MemoryProfile& profile) {
  profile.totals = {.allocations = sums.allocated.count(),
                    .frees = sums.freed.count(),
                    .allocated_bytes = sums.allocated.bytes,
                    .freed_bytes = sums.freed.bytes,
                    .alive_bytes = sums.allocated.bytes - sums.freed.bytes,
                    .out_of_memory = sums.out_of_memory};
  profile.leaks = sums.leaks.LargestFirst();
  if (profile.detail == MemoryDetail::kRecords) {
    profile.temporary = {.count = sums.temporary.count(),
                         .bytes = sums.temporary.bytes,
                         .by_stack = sums.temporary_by_stack.LargestFirst()};
  }
  profile.sizes = WholeBlocks(sums.size_units);
  profile.lifetimes = WholeBlocks(sums.lifetime_units);
}

// Moves the blocks of the runtime from the leaks to `runtime_kept`.
void SetApartRuntime(RuntimeMemory& runtime, MemoryProfile& profile) {
  std::erase_if(profile.leaks, [&](const StackMemory& leak) {
    if (!runtime.Has(leak.id)) return false;
    profile.runtime_kept.count += leak.count;
    profile.runtime_kept.bytes += leak.bytes;
    return true;
  });
}

// One profile for each pool.
void AddSums(const model::Trace& trace, const MemoryPools& pools,
             RuntimeMemory& runtime, std::vector<MemoryProfile>& profiles) {
  const std::vector<PoolSums> sums = SumMemory(trace, pools);
  for (size_t p = 0; p < profiles.size(); ++p) {
    MemoryProfile& profile = profiles[p];
    profile.pool = pools.all()[p];
    const bool is_sampled = trace.memory_sample_interval() != 0 &&
                            profile.pool.source == MemorySource::kHeap;
    profile.detail =
        is_sampled ? MemoryDetail::kSamples : MemoryDetail::kRecords;
    SetSums(sums[p], profile);
    SetApartRuntime(runtime, profile);
  }
}

std::vector<MemoryProfile> FromRecords(const model::Trace& trace,
                                       const MemoryPools& pools,
                                       RuntimeMemory& runtime) {
  std::vector<MemoryProfile> profiles(pools.size());
  // The sums are gone before the next ones are made: each has an entry for
  // every stack.
  AddSums(trace, pools, runtime, profiles);
  const LiveBytes live(trace, pools);
  std::vector<MemoryPeak> peaks = MemoryPeaks(trace, pools, live);
  std::vector<std::vector<MemoryStep>> steps = MemorySteps(trace, pools, live);
  for (size_t p = 0; p < profiles.size(); ++p) {
    profiles[p].peak = std::move(peaks[p]);
    profiles[p].steps = std::move(steps[p]);
  }
  return profiles;
}

// There are few functions of many stacks.
std::vector<FunctionMemory> ByFunction(const std::vector<StackMemory>& by_stack,
                                       AllocationFrames& frames) {
  FunctionMemorySums sums;
  for (const StackMemory& group : by_stack) {
    sums.Add(frames.OwnFunction(group.id),
             {group.count * MemoryAmount::kOne, group.bytes});
  }
  return sums.LargestFirst();
}

MemoryAmount AmountOf(const model::BlockSum& sum) {
  return {sum.count * MemoryAmount::kOne, sum.bytes};
}

std::vector<OperationMemory> PeakByOperation(const model::Trace& trace,
                                             const model::FoldedHeap& heap,
                                             const MemoryAmount& all) {
  OperationMemorySums sums;
  // No event was open: see folded_memory.h.
  if (heap.threads.empty()) sums.Add(model::kEmptyName, all);
  std::optional<OpenEvents> open;
  model::TrackIndex track = 0;
  for (const model::FoldedBlock& block : heap.peak_blocks) {
    if (!open || block.track != track) {
      track = block.track;
      open.emplace(trace, track, block.time_ns);
    }
    const model::EventIndex event = open->InnermostAt(block.time_ns);
    sums.Add(event == model::kNoEvent ? model::kEmptyName : trace.name()[event],
             AmountOf({1, block.bytes}));
  }
  return sums.LargestFirst();
}

// As StackMemorySums::LargestFirst. A heap has as many sums as stacks, of which
// a table would take twice the memory.
std::vector<StackMemory> LargestFirst(
    const model::FoldedHeap& heap, model::BlockSum model::FoldedStack::*which) {
  const auto has_blocks = [which](const model::FoldedStack& stack) {
    return (stack.*which).count != 0;
  };
  std::vector<StackMemory> groups;
  groups.reserve(
      static_cast<size_t>(std::ranges::count_if(heap.stacks, has_blocks)));
  for (const model::FoldedStack& stack : heap.stacks) {
    if (!has_blocks(stack)) continue;
    const model::BlockSum& sum = stack.*which;
    groups.push_back({stack.stack, sum.count, sum.bytes});
  }
  // Several threads may have one stack.
  JoinLargestFirst(groups);
  return groups;
}

MemoryProfile FromFolded(const model::Trace& trace, const MemoryPools& pools,
                         const model::FoldedHeap& heap,
                         RuntimeMemory& runtime) {
  PoolSums sums;
  MemoryAmount all_at_peak;
  for (const model::FoldedStack& stack : heap.stacks) {
    sums.temporary += AmountOf(stack.temporary);
    all_at_peak += AmountOf(stack.at_peak);
  }
  sums.allocated = AmountOf(heap.allocated);
  sums.freed = AmountOf(heap.freed);
  sums.freed += AmountOf(heap.replaced);
  for (size_t i = 0; i < sums.size_units.size(); ++i) {
    sums.size_units[i] = heap.sizes[i] * MemoryAmount::kOne;
    sums.lifetime_units[i] = heap.lifetimes[i] * MemoryAmount::kOne;
  }
  MemoryProfile profile;
  profile.pool = {.pid = trace.tracks()[heap.track].pid,
                  .process = pools.ProcessAt(heap.track, heap.first_ns),
                  .source = MemorySource::kHeap};
  SetSums(sums, profile);
  profile.leaks = LargestFirst(heap, &model::FoldedStack::alive);
  profile.temporary.by_stack =
      LargestFirst(heap, &model::FoldedStack::temporary);
  SetApartRuntime(runtime, profile);
  if (heap.peak_bytes != 0) {
    profile.peak = {
        .bytes = heap.peak_bytes,
        .time_ns = heap.peak_ns,
        .by_stack = LargestFirst(heap, &model::FoldedStack::at_peak),
        .by_operation = PeakByOperation(trace, heap, all_at_peak)};
  }
  return profile;
}

// Of a folded heap, allocations that failed are the only single records.
void AddFolded(const model::Trace& trace, const MemoryPools& pools,
               RuntimeMemory& runtime, std::vector<MemoryProfile>& profiles) {
  if (trace.folded_memory() == nullptr) return;
  std::vector<MemoryProfile> of_heaps;
  std::vector<MemoryPool> heap_pools;
  for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
    of_heaps.push_back(FromFolded(trace, pools, heap, runtime));
    heap_pools.push_back(of_heaps.back().pool);
  }
  std::vector<std::vector<MemoryStep>> steps =
      FoldedMemorySteps(trace, pools, heap_pools);
  for (size_t h = 0; h < of_heaps.size(); ++h) {
    MemoryProfile& folded = of_heaps[h];
    folded.steps = std::move(steps[h]);
    const auto of_pool = [&](const MemoryProfile& profile) {
      return profile.pool == folded.pool;
    };
    const auto failed = std::find_if(profiles.begin(), profiles.end(), of_pool);
    if (failed == profiles.end()) {
      profiles.push_back(std::move(folded));
    } else {
      folded.totals.out_of_memory = failed->totals.out_of_memory;
      *failed = std::move(folded);
    }
  }
}

// Counts belong to a thread. If its process became another program by an exec,
// the last program gets them.
void AddCounts(const model::Trace& trace, const MemoryPools& pools,
               std::vector<MemoryProfile>& profiles) {
  std::map<MemoryPool, MemoryTotals> counted;
  for (const model::AllocationCounts& counts : trace.allocation_counts()) {
    const MemoryPool pool = {
        .pid = trace.tracks()[counts.track].pid,
        .process = pools.ProcessAt(counts.track, trace.end_ns()),
        .source = MemorySource::kHeap};
    MemoryTotals& totals = counted[pool];
    totals.allocations += static_cast<int64_t>(counts.allocations);
    totals.frees += static_cast<int64_t>(counts.frees);
    totals.allocated_bytes += static_cast<int64_t>(counts.allocated_bytes);
  }
  for (const auto& [pool, totals] : counted) {
    const auto has_records = [pid = pool.pid](const MemoryProfile& profile) {
      return profile.pool.pid == pid &&
             profile.pool.source == MemorySource::kHeap;
    };
    if (std::none_of(profiles.begin(), profiles.end(), has_records)) {
      profiles.push_back(
          {.pool = pool, .detail = MemoryDetail::kCounts, .totals = totals});
    }
  }
}

}  // namespace

std::vector<MemoryProfile> ProfileMemory(const model::Trace& trace) {
  const MemoryPools pools(trace);
  RuntimeMemory runtime(trace);
  std::vector<MemoryProfile> profiles = FromRecords(trace, pools, runtime);
  AddFolded(trace, pools, runtime, profiles);
  AddCounts(trace, pools, profiles);
  AllocationFrames frames(trace);
  for (MemoryProfile& profile : profiles) {
    profile.peak_by_function = ByFunction(profile.peak.by_stack, frames);
  }
  std::sort(profiles.begin(), profiles.end(),
            [](const auto& a, const auto& b) { return a.pool < b.pool; });
  return profiles;
}

}  // namespace kymo::analysis
