// folded_memory.h - sums of the heap's records, kept instead of the records.
//
//   if (const FoldedMemory* folded = trace.folded_memory()) {
//     for (const FoldedHeap& heap : folded->heaps) Print(heap.allocated.bytes);
//   }
//
// A program that allocates millions of times makes more records than fit into
// memory. Where nobody asks for single records, the collector adds them up
// while it reads them (backends/stream/decode/heap_fold.h). All sums are exact:
// they are what an analysis of the single records finds. Only the curves are
// thinned.
//
// If the trace has events, each heap also has the changes of each thread
// (folded_changes.h) and the blocks of its peak, which belong to events.
// Every allocation was recorded: there are no estimates here.
#ifndef KYMO_PROFILER_MODEL_FOLDED_MEMORY_H_
#define KYMO_PROFILER_MODEL_FOLDED_MEMORY_H_

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/folded_changes.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"

namespace kymo::model {

struct BlockSum {
  int64_t count = 0;
  int64_t bytes = 0;

  BlockSum& operator+=(const BlockSum& other) {
    count += other.count;
    bytes += other.bytes;
    return *this;
  }
  friend bool operator==(const BlockSum&, const BlockSum&) = default;
};

// The blocks that one thread allocated with one stack.
struct FoldedStack {
  TrackIndex track = 0;
  StackId stack = kEmptyStack;
  BlockSum allocated;
  // Freed by the thread before it allocated another block.
  BlockSum temporary;
  BlockSum alive;    // at the end of the recording
  BlockSum at_peak;  // alive when the heap was largest

  // Adds the blocks of another one.
  FoldedStack& operator+=(const FoldedStack& other) {
    allocated += other.allocated;
    temporary += other.temporary;
    alive += other.alive;
    at_peak += other.at_peak;
    return *this;
  }
};

// The bytes that are alive from `time_ns` on.
struct FoldedPoint {
  TimeNs time_ns = 0;
  int64_t bytes = 0;

  friend bool operator==(const FoldedPoint&, const FoldedPoint&) = default;
};

// Entry 0 counts zeros, entry n values v with 2^(n-1) <= v < 2^n.
using FoldedHistogram = std::array<int64_t, 64>;

// A block that was alive when the heap was largest.
struct FoldedBlock {
  TrackIndex track = 0;  // that allocated it
  TimeNs time_ns = 0;    // when
  int64_t bytes = 0;

  friend auto operator<=>(const FoldedBlock&, const FoldedBlock&) = default;
};

// What one thread allocated and freed.
struct FoldedThread {
  TrackIndex track = 0;
  FoldedChanges changes;
};

// The heap of one process.
struct FoldedHeap {
  TrackIndex track = 0;  // of the first record
  TimeNs first_ns = 0;   // its time
  BlockSum allocated;
  BlockSum freed;  // by frees that were recorded
  // Whose free nobody saw: by later blocks at their addresses, or by an exec.
  BlockSum replaced;
  int64_t peak_bytes = 0;
  TimeNs peak_ns = 0;               // when the heap was that large first
  FoldedHistogram sizes = {};       // allocated blocks, by bytes
  FoldedHistogram lifetimes = {};   // freed blocks, by ns
  std::vector<FoldedStack> stacks;  // by track and stack, each of them once
  std::vector<FoldedPoint> live;    // by time; thinned (heap_curve.h)
  // Both are empty if nothing was recorded that memory may be charged to.
  std::vector<FoldedThread> threads;     // by track, each of them once
  std::vector<FoldedBlock> peak_blocks;  // by track, then time

  int64_t record_count() const { return allocated.count + freed.count; }
};

struct FoldedMemory {
  std::vector<FoldedHeap> heaps;  // by pid
  // The live bytes of all heaps together, at the end of each microsecond in
  // which they changed; thinned.
  std::vector<FoldedPoint> live;
  int64_t live_moments = 0;  // how many microseconds these were
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_FOLDED_MEMORY_H_
