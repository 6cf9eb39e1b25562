#include "profiler/analysis/memory/memory_sums.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "profiler/base/parallel.h"
#include "profiler/base/per_worker.h"

namespace kymo::analysis {
namespace {

using model::kNoMemory;
using model::MemoryEvent;
using model::MemoryIndex;
using model::MemoryRecord;

constexpr size_t kGrain = 64 * 1024;

// Negative values count as 0: the clocks of two CPUs may differ by more than a
// block lived.
size_t HistogramEntry(int64_t value) {
  return static_cast<size_t>(
      std::bit_width(static_cast<uint64_t>(std::max<int64_t>(value, 0))));
}

// By pool: the last allocation on the current track; kNoMemory: none yet.
using LastAllocations = std::vector<MemoryIndex>;

class Summation {
 public:
  Summation(const model::Trace& trace, const MemoryPools& pools)
      : trace_(trace), pools_(pools), blocks_(trace) {}

  std::vector<PoolSums> Run() {
    FindLastAllocations();
    PerWorker<std::vector<PoolSums>> workers(
        [&] { return std::vector<PoolSums>(pools_.size()); });
    ForEachRange([&](MemoryIndex begin, MemoryIndex end) {
      AddRange(begin, end, workers.Local());
    });
    std::vector<PoolSums> all;
    workers.ForEach([&](std::vector<PoolSums>& part) {
      if (all.empty()) return all.swap(part);
      for (size_t p = 0; p < part.size(); ++p) all[p].Merge(part[p]);
      part.clear();
    });
    all.resize(pools_.size());
    return all;
  }

 private:
  template <typename Body>
  void ForEachRange(Body&& body) const {
    ParallelFor(trace_.memory().size(), kGrain, [&](size_t begin, size_t end) {
      body(static_cast<MemoryIndex>(begin), static_cast<MemoryIndex>(end));
    });
  }

  // Updates `last`: from its value before record i to its value after it.
  void Pass(MemoryIndex i, LastAllocations& last) const {
    if (blocks_.IsAllocation(i)) last[pools_.IndexOf(trace_.memory()[i])] = i;
  }

  // A range may begin in the middle of a thread's records. This finds, for each
  // range, the last allocations before it.
  void FindLastAllocations() {
    last_before_.assign(ParallelRangeCount(trace_.memory().size(), kGrain),
                        LastAllocations(pools_.size(), kNoMemory));
    ForEachRange([&](MemoryIndex begin, MemoryIndex end) {
      LastAllocations& last = last_before_[begin / kGrain];
      for (MemoryIndex i = begin; i < end; ++i) Pass(i, last);
    });
    LastAllocations before(pools_.size(), kNoMemory);
    for (LastAllocations& last : last_before_) {
      std::swap(last, before);
      for (size_t p = 0; p < before.size(); ++p) {
        if (before[p] == kNoMemory) before[p] = last[p];
      }
    }
  }

  void AddRange(MemoryIndex begin, MemoryIndex end,
                std::vector<PoolSums>& sums) const {
    LastAllocations last = last_before_[begin / kGrain];
    for (MemoryIndex i = begin; i < end; ++i) {
      const MemoryRecord& record = trace_.memory()[i];
      const size_t pool = pools_.IndexOf(record);
      if (record.event == MemoryEvent::kOutOfMemory) {
        ++sums[pool].out_of_memory;
      } else if (blocks_.IsFree(i)) {
        AddFree(i, last[pool], sums[pool]);
      } else {
        AddAllocation(i, sums[pool]);
        last[pool] = i;
      }
    }
  }

  void AddAllocation(MemoryIndex i, PoolSums& sums) const {
    const MemoryRecord& record = trace_.memory()[i];
    const MemoryAmount amount = blocks_.AmountOf(i);
    sums.allocated += amount;
    sums.size_units[HistogramEntry(record.bytes)] += amount.units;
    switch (blocks_.EndOf(i)) {
      case BlockEnd::kAlive:
        // A block without an address is never known to leak. Only reports have
        // such blocks.
        if (record.address != 0) sums.leaks.Add(record.stack, amount);
        break;
      case BlockEnd::kUnseen:
        sums.freed += amount;
        break;
      case BlockEnd::kFreed:
        break;  // counted with the free
    }
  }

  // `last_allocation` is the last one of the record's thread or, if that has
  // none so far, of the thread before it in the records.
  void AddFree(MemoryIndex i, MemoryIndex last_allocation,
               PoolSums& sums) const {
    const MemoryRecord& record = trace_.memory()[i];
    const MemoryAmount amount = blocks_.AmountOf(i);
    sums.freed += amount;
    if (record.partner == kNoMemory) return;
    const MemoryRecord& block = trace_.memory()[record.partner];
    sums.lifetime_units[HistogramEntry(record.time_ns - block.time_ns)] +=
        amount.units;
    if (record.partner == last_allocation && record.track == block.track) {
      sums.temporary += amount;
      sums.temporary_by_stack.Add(block.stack, amount);
    }
  }

  const model::Trace& trace_;
  const MemoryPools& pools_;
  const MemoryBlocks blocks_;
  std::vector<LastAllocations> last_before_;  // by range
};

}  // namespace

void PoolSums::Merge(const PoolSums& other) {
  allocated += other.allocated;
  freed += other.freed;
  temporary += other.temporary;
  out_of_memory += other.out_of_memory;
  leaks.Merge(other.leaks);
  temporary_by_stack.Merge(other.temporary_by_stack);
  for (size_t i = 0; i < size_units.size(); ++i) {
    size_units[i] += other.size_units[i];
    lifetime_units[i] += other.lifetime_units[i];
  }
}

std::vector<PoolSums> SumMemory(const model::Trace& trace,
                                const MemoryPools& pools) {
  return Summation(trace, pools).Run();
}

}  // namespace kymo::analysis
