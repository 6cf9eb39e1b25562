// memory_blocks.h - what a memory record and its partner say about a block.
//
//   const MemoryBlocks blocks(trace);
//   if (blocks.IsAllocation(i) && blocks.EndOf(i) == BlockEnd::kAlive) ...
//
// Amounts are integers, even where one sample stands for a fraction of a block
// more than itself. So sums do not depend on the order of addition.
//
// Threads: immutable; any number of readers.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_BLOCKS_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_BLOCKS_H_

#include <cmath>
#include <compare>
#include <cstdint>
#include <span>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// A number of blocks, in units of 1 / kOne of a block, and their bytes.
struct MemoryAmount {
  static constexpr int64_t kOne = 1 << 16;

  int64_t units = 0;
  int64_t bytes = 0;

  int64_t count() const { return (units + kOne / 2) / kOne; }
  MemoryAmount& operator+=(const MemoryAmount& other) {
    units += other.units;
    bytes += other.bytes;
    return *this;
  }
};

// A record's place among those of all threads.
struct MemoryMoment {
  TimeNs time_ns = 0;
  model::MemoryIndex index = 0;

  friend auto operator<=>(const MemoryMoment&, const MemoryMoment&) = default;
};

enum class BlockEnd : uint8_t {
  kAlive,  // not freed
  kFreed,  // by its partner
  kUnseen  // freed by nobody knows whom, before its address came again
};

class MemoryBlocks {
 public:
  // `trace` must outlive this.
  explicit MemoryBlocks(const model::Trace& trace)
      : memory_(trace.memory()), interval_(trace.memory_sample_interval()) {}

  // Both are false for a failed allocation.
  bool IsAllocation(model::MemoryIndex i) const {
    return memory_[i].event == model::MemoryEvent::kAllocation && !IsFree(i);
  }
  // For a block of 0 bytes, only the order tells which record is the free.
  bool IsFree(model::MemoryIndex i) const {
    const model::MemoryRecord& record = memory_[i];
    if (record.event != model::MemoryEvent::kAllocation) return false;
    return record.bytes < 0 ||
           (record.bytes == 0 && record.partner != model::kNoMemory &&
            MomentOf(record.partner) < MomentOf(i));
  }

  // REQUIRES: IsAllocation(i).
  BlockEnd EndOf(model::MemoryIndex i) const {
    const model::MemoryIndex partner = memory_[i].partner;
    if (partner == model::kNoMemory) return BlockEnd::kAlive;
    return IsFree(partner) ? BlockEnd::kFreed : BlockEnd::kUnseen;
  }

  // Whether the block was alive after the record of that moment. A block
  // without an address (only reports have such) cannot be followed and never
  // is. REQUIRES: IsAllocation(i).
  bool IsAliveAfter(model::MemoryIndex i, const MemoryMoment& moment) const {
    const model::MemoryRecord& record = memory_[i];
    return record.address != 0 && MomentOf(i) <= moment &&
           (record.partner == model::kNoMemory ||
            MomentOf(record.partner) > moment);
  }

  MemoryMoment MomentOf(model::MemoryIndex i) const {
    return {memory_[i].time_ns, i};
  }

  // The amount that an allocation or free counts for; never negative. Only the
  // heap is ever sampled.
  MemoryAmount AmountOf(model::MemoryIndex i) const {
    const model::MemoryRecord& record = memory_[i];
    const int64_t bytes = record.bytes < 0 ? -record.bytes : record.bytes;
    if (interval_ == 0 || record.source != model::MemorySource::kHeap) {
      return {MemoryAmount::kOne, bytes};
    }
    const double weight = model::MemorySampleWeight(bytes, interval_);
    return {std::llround(weight * MemoryAmount::kOne),
            std::llround(weight * static_cast<double>(bytes))};
  }

 private:
  const std::span<const model::MemoryRecord> memory_;
  const double interval_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_BLOCKS_H_
