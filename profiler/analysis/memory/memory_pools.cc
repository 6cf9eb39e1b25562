#include "profiler/analysis/memory/memory_pools.h"

#include <algorithm>
#include <set>

#include "profiler/base/parallel.h"

namespace kymo::analysis {
namespace {

using model::MemoryRecord;

constexpr size_t kPoolsGrain = 64 * 1024;

}  // namespace

MemoryPools::MemoryPools(const model::Trace& trace)
    : trace_(trace), processes_(trace.tracks().size()) {
  for (size_t t = 0; t < processes_.size(); ++t) {
    const auto [first, last] = std::equal_range(
        trace.processes().begin(), trace.processes().end(),
        model::Process{.pid = trace.tracks()[t].pid},
        [](const auto& a, const auto& b) { return a.pid < b.pid; });
    processes_[t] = {static_cast<uint32_t>(first - trace.processes().begin()),
                     static_cast<uint32_t>(last - trace.processes().begin())};
  }

  const auto memory = trace.memory();
  std::vector<std::set<MemoryPool>> found(
      ParallelRangeCount(memory.size(), kPoolsGrain));
  ParallelFor(memory.size(), kPoolsGrain, [&](size_t begin, size_t end) {
    std::set<MemoryPool>& pools = found[begin / kPoolsGrain];
    MemoryPool last;
    for (size_t i = begin; i < end; ++i) {
      const MemoryPool pool = PoolOf(memory[i]);
      if (i != begin && pool == last) continue;
      pools.insert(pool);
      last = pool;
    }
  });
  std::set<MemoryPool> all;
  for (std::set<MemoryPool>& pools : found) all.merge(pools);
  pools_.assign(all.begin(), all.end());
}

size_t MemoryPools::IndexOf(const MemoryRecord& record) const {
  if (pools_.size() == 1) return 0;
  return static_cast<size_t>(
      std::lower_bound(pools_.begin(), pools_.end(), PoolOf(record)) -
      pools_.begin());
}

uint32_t MemoryPools::ProcessAt(model::TrackIndex track, TimeNs time_ns) const {
  const auto [first, last] = processes_[track];
  if (first == last) return kNoProcess;
  uint32_t process = first;
  while (process + 1 < last &&
         trace_.processes()[process + 1].start_ns <= time_ns) {
    ++process;
  }
  return process;
}

MemoryPool MemoryPools::PoolOf(const MemoryRecord& record) const {
  return {.pid = trace_.tracks()[record.track].pid,
          .process = ProcessAt(record.track, record.time_ns),
          .source = record.source,
          .device_type = record.device_type,
          .device_index = record.device_index};
}

}  // namespace kymo::analysis
