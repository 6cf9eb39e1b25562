// memory_pools.h - pools: memory that is added up together, because it belongs
// to one process, one source and one device.
//
//   const MemoryPools pools(trace);
//   pools.all()[pools.IndexOf(trace.memory()[i])].source
//
// Sources are never added to one another, since the same bytes may be in a
// program's report, in the heap and in a mapping. A process keeps its pools
// when it becomes another program by an exec, which ends all blocks in them
// (profiler/normalize/allocations.h).
//
// Threads: immutable once made. Cost: one parallel pass over the records.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_POOLS_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_POOLS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

inline constexpr uint32_t kNoProcess = ~uint32_t{0};

struct MemoryPool {
  int64_t pid = 0;
  // Index in the trace's processes. kNoProcess: no process there has this pid.
  uint32_t process = kNoProcess;
  model::MemorySource source = model::MemorySource::kHeap;
  int8_t device_type = 0;  // PyTorch's DeviceType; 0 = CPU
  int8_t device_index = -1;

  friend auto operator<=>(const MemoryPool&, const MemoryPool&) = default;
};

class MemoryPools {
 public:
  // The pools of all of the trace's memory records. `trace` must outlive this.
  explicit MemoryPools(const model::Trace& trace);

  std::span<const MemoryPool> all() const { return pools_; }  // ascending
  size_t size() const { return pools_.size(); }

  // REQUIRES: `record` is one of the trace's.
  size_t IndexOf(const model::MemoryRecord& record) const;

  // The process that a track belonged to at a time, or kNoProcess.
  uint32_t ProcessAt(model::TrackIndex track, TimeNs time_ns) const;

 private:
  struct Range {
    uint32_t first = 0;
    uint32_t last = 0;  // exclusive
  };

  MemoryPool PoolOf(const model::MemoryRecord& record) const;

  const model::Trace& trace_;
  std::vector<Range> processes_;  // by track: the processes of its pid
  std::vector<MemoryPool> pools_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_POOLS_H_
