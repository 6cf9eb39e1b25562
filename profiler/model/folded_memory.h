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

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>
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
  friend bool operator==(const FoldedStack&, const FoldedStack&) = default;
};

// Millions of FoldedStack, each of which takes 40 bytes instead of 72: most of
// their numbers fit into 32 bits. The others stand apart.
//
//   for (const FoldedStack& stack : heap.stacks) Print(stack.allocated.bytes);
//
// An element is read and written as a copy.
class FoldedStacks {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = FoldedStack;
    using difference_type = std::ptrdiff_t;
    using pointer = const FoldedStack*;
    using reference = FoldedStack;

    Iterator() = default;
    Iterator(const FoldedStacks* stacks, size_t at)
        : stacks_(stacks), at_(at) {}
    FoldedStack operator*() const { return (*stacks_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {stacks_, at_++}; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const FoldedStacks* stacks_ = nullptr;
    size_t at_ = 0;
  };

  FoldedStacks() = default;
  explicit(false) FoldedStacks(std::initializer_list<FoldedStack> stacks) {
    for (const FoldedStack& stack : stacks) push_back(stack);
  }

  size_t size() const { return packed_.size(); }
  bool empty() const { return packed_.empty(); }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

  FoldedStack operator[](size_t i) const;
  TrackIndex track(size_t i) const { return packed_[i].track; }
  StackId stack(size_t i) const { return packed_[i].stack; }
  void Set(size_t i, const FoldedStack& stack);
  void push_back(const FoldedStack& stack) {
    packed_.emplace_back();
    Set(packed_.size() - 1, stack);
  }

  // Sorts by track and stack, and makes one of those that have the same.
  void SortAndJoin();

 private:
  using Numbers = std::array<int64_t, 8>;
  // Its numbers, or where in wide_ they are.
  struct Packed {
    TrackIndex track = 0;
    StackId stack = kEmptyStack;
    std::array<int32_t, 8> numbers = {};
  };
  static constexpr int32_t kWide = std::numeric_limits<int32_t>::min();

  static bool IsWide(const Packed& packed) {
    return packed.numbers[1] == kWide;
  }
  static size_t PlaceOf(const Packed& packed) {
    return static_cast<uint32_t>(packed.numbers[0]);
  }

  // No vector, which is there twice while it grows.
  std::deque<Packed> packed_;
  std::vector<Numbers> wide_;
};

inline FoldedStack FoldedStacks::operator[](size_t i) const {
  const Packed& packed = packed_[i];
  Numbers n;
  if (IsWide(packed)) {
    n = wide_[PlaceOf(packed)];
  } else {
    std::copy(packed.numbers.begin(), packed.numbers.end(), n.begin());
  }
  return {.track = packed.track,
          .stack = packed.stack,
          .allocated = {n[0], n[1]},
          .temporary = {n[2], n[3]},
          .alive = {n[4], n[5]},
          .at_peak = {n[6], n[7]}};
}

inline void FoldedStacks::Set(size_t i, const FoldedStack& stack) {
  Packed& packed = packed_[i];
  packed.track = stack.track;
  packed.stack = stack.stack;
  const Numbers n = {stack.allocated.count, stack.allocated.bytes,
                     stack.temporary.count, stack.temporary.bytes,
                     stack.alive.count,     stack.alive.bytes,
                     stack.at_peak.count,   stack.at_peak.bytes};
  if (IsWide(packed)) {
    wide_[PlaceOf(packed)] = n;
    return;
  }
  bool fits = true;
  for (const int64_t number : n) {
    fits &= number > kWide && number <= std::numeric_limits<int32_t>::max();
  }
  if (fits) {
    for (size_t k = 0; k < n.size(); ++k) {
      packed.numbers[k] = static_cast<int32_t>(n[k]);
    }
  } else {
    packed.numbers = {static_cast<int32_t>(wide_.size()), kWide};
    wide_.push_back(n);
  }
}

inline void FoldedStacks::SortAndJoin() {
  const auto place = [](const Packed& packed) {
    return std::pair(packed.track, packed.stack);
  };
  if (!std::ranges::is_sorted(packed_, {}, place)) {
    std::ranges::sort(packed_, {}, place);
  }
  size_t kept = 0;
  for (size_t i = 0; i < packed_.size(); ++i) {
    if (kept == 0 || place(packed_[kept - 1]) != place(packed_[i])) {
      packed_[kept++] = packed_[i];
      continue;
    }
    FoldedStack sum = (*this)[kept - 1];
    sum += (*this)[i];
    Set(kept - 1, sum);
  }
  packed_.resize(kept);
}

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
  TimeNs peak_ns = 0;              // when the heap was that large first
  FoldedHistogram sizes = {};      // allocated blocks, by bytes
  FoldedHistogram lifetimes = {};  // freed blocks, by ns
  FoldedStacks stacks;             // by track and stack, each of them once
  std::vector<FoldedPoint> live;   // by time; thinned (heap_curve.h)
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
