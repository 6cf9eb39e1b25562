// test_memory.h - an allocator by hand, for tests. Its records look as
// normalisation leaves them in a trace: with partners, bytes of frees, running
// sums.
//
//   TestMemory memory;
//   const auto block = memory.Allocate({.track = main, .bytes = 64}, 10);
//   memory.Free(block, main, 20);
//   std::move(memory).AddTo(t.data());
//
// Make the calls in the order of time; of two calls with one time, the one on
// the earlier track comes first.
#ifndef KYMO_TESTS_SUPPORT_TEST_MEMORY_H_
#define KYMO_TESTS_SUPPORT_TEST_MEMORY_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo {

class TestMemory {
 public:
  using Block = model::MemoryIndex;

  struct Allocation {
    model::TrackIndex track = 0;
    int64_t bytes = 0;
    model::StackId stack = model::kEmptyStack;
    model::MemorySource source = model::MemorySource::kHeap;
    int8_t device_type = 0;
    int8_t device_index = -1;
  };

  Block Allocate(const Allocation& allocation, TimeNs time_ns) {
    next_address_ += 16;
    return Add({.track = allocation.track,
                .source = allocation.source,
                .device_type = allocation.device_type,
                .device_index = allocation.device_index,
                .time_ns = time_ns,
                .address = next_address_,
                .bytes = allocation.bytes,
                .stack = allocation.stack});
  }

  void Free(Block block, model::TrackIndex track, TimeNs time_ns) {
    model::MemoryRecord record = records_[block];
    record.track = track;
    record.time_ns = time_ns;
    record.bytes = -record.bytes;
    record.stack = model::kEmptyStack;
    record.partner = block;
    records_[block].partner = Add(record);
  }

  // Allocates the address of `block` again, as if nobody saw the block's free.
  Block Replace(Block block, model::TrackIndex track, TimeNs time_ns) {
    model::MemoryRecord record = records_[block];
    record.track = track;
    record.time_ns = time_ns;
    return records_[block].partner = Add(record);
  }

  void OutOfMemory(const Allocation& allocation, TimeNs time_ns) {
    Add({.track = allocation.track,
         .event = model::MemoryEvent::kOutOfMemory,
         .source = allocation.source,
         .time_ns = time_ns,
         .bytes = allocation.bytes});
  }

  void AddTo(model::TraceData& data) && {
    SumUp(data);
    std::vector<model::MemoryIndex> order(records_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](model::MemoryIndex i) {
      return std::tuple(records_[i].track, records_[i].time_ns, i);
    };
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return key(a) < key(b); });
    std::vector<model::MemoryIndex> place(records_.size());
    for (size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = static_cast<model::MemoryIndex>(i);
    }
    for (const model::MemoryIndex i : order) {
      model::MemoryRecord& record = records_[i];
      if (record.partner != model::kNoMemory) {
        record.partner = place[record.partner];
      }
      data.memory.push_back(record);
    }
  }

 private:
  Block Add(const model::MemoryRecord& record) {
    records_.push_back(record);
    return static_cast<Block>(records_.size() - 1);
  }

  // The heap's running sums, by pid.
  void SumUp(const model::TraceData& data) {
    std::map<int64_t, double> totals;
    const auto bytes = [&](const model::MemoryRecord& record) {
      return static_cast<double>(record.bytes) *
             model::MemorySampleWeight(record.bytes,
                                       data.memory_sample_interval);
    };
    std::vector<double> ended(records_.size());
    for (size_t i = 0; i < records_.size(); ++i) {
      model::MemoryRecord& record = records_[i];
      if (record.source != model::MemorySource::kHeap ||
          record.event != model::MemoryEvent::kAllocation) {
        continue;
      }
      double& total = totals[data.tracks[record.track].pid];
      total += bytes(record) - ended[i];
      record.total_allocated = std::llround(total);
      const bool is_replaced = record.partner != model::kNoMemory &&
                               record.partner > i &&
                               records_[record.partner].bytes > 0;
      if (is_replaced) ended[record.partner] = bytes(record);
    }
  }

  uint64_t next_address_ = 0x1000;
  std::vector<model::MemoryRecord> records_;
};

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_MEMORY_H_
