// heap_fold.h - adds up the heap's records, one after the other.
//
//   HeapFold fold;
//   for (each record of all threads, by time) fold.Add(record);
//   shard.folded_memory = std::move(fold).Take(shard.ledger);
//
// It keeps the live blocks in a table, and a sum for each thread and stack. So
// its memory grows with the live blocks and with the stacks, not with the
// records. A process that has ended leaves its sums and its curve. The sums are
// those that PairAllocations (profiler/normalize) and ProfileMemory
// (profiler/analysis/memory) find in single records:
//
// - A free ends the block at its address. A free of a block that was not
//   allocated before is counted (kFreesOfUnknownBlocks) and left out.
// - An allocation ends the block at its address if nobody saw that block's free
//   (kFreesNotSeen).
// - When another program replaces the process's program (an exec), its first
//   allocation ends all blocks of the old program, and the new heap is empty.
//
// The peak: each sum remembers what it was at the latest peak when it changes
// for the first time after it. So a new peak costs nothing, however often the
// heap grows.
//
// For a recording with ranges it also keeps each change, packed, and the blocks
// of the peak (HeapFold::With::kChanges).
//
// Threads: none. Cost: a few hash lookups a record.
#ifndef KYMO_BACKENDS_STREAM_DECODE_HEAP_FOLD_H_
#define KYMO_BACKENDS_STREAM_DECODE_HEAP_FOLD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "backends/stream/decode/heap_curve.h"
#include "backends/stream/decode/index_table.h"
#include "profiler/base/time.h"
#include "profiler/model/folded_changes.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"

namespace kymo::stream {

struct HeapRecord {
  TimeNs time_ns = 0;
  uint64_t address = 0;
  int64_t bytes = 0;  // of an allocation
  model::StackId stack = model::kEmptyStack;
  bool is_free = false;
};

// The thread of a record.
struct HeapThread {
  int64_t pid = 0;
  model::TrackIndex track = 0;
  uint32_t program = 0;  // counts the programs of the process by time
};

// The live blocks by address: open addressing with linear probing.
class LiveBlocks {
 public:
  struct Block {
    uint64_t address = 0;  // 0 = no block
    int64_t bytes = 0;
    TimeNs time_ns = 0;
    uint32_t sum = 0;    // index of its thread and stack
    uint32_t peaks = 0;  // how many peaks there were before it; the lower bits
  };

  // Adds the block, or returns true and the block that was there in `old`.
  bool Put(const Block& block, Block* old);
  // False: there is no such block.
  bool Remove(uint64_t address, Block* removed);
  void Clear();
  // The processor loads what Put and Remove will look at first.
  void Prefetch(uint64_t address) const {
    if (!blocks_.empty()) __builtin_prefetch(&blocks_[PlaceOf(address)]);
  }
  // visit(const Block&) for each, in no order.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const Block& block : blocks_) {
      if (block.address != 0) visit(block);
    }
  }

 private:
  static constexpr size_t kFirstSize = 1024;

  size_t PlaceOf(uint64_t address) const {
    return address * 0x9e3779b97f4a7c15u >> shift_;
  }
  size_t Next(size_t place) const { return (place + 1) & (blocks_.size() - 1); }
  void Grow();

  std::vector<Block> blocks_;  // none, or a power of two
  size_t count_ = 0;
  int shift_ = 64 - 10;
};

class HeapFold {
 public:
  enum class With : uint8_t { kSums, kChanges };

  explicit HeapFold(With with = With::kSums)
      : with_changes_(with == With::kChanges) {}
  HeapFold(const HeapFold&) = delete;
  HeapFold& operator=(const HeapFold&) = delete;

  // REQUIRES: no record before was later, in time or in its process's programs;
  // the address is not 0.
  void Add(const HeapThread& thread, const HeapRecord& record);

  // Add takes less time if this was called some calls earlier.
  void Prefetch(const HeapThread& thread, const HeapRecord& record);

  // The process has no further records. Frees all but its sums and its curve.
  void End(int64_t pid);

  std::shared_ptr<model::FoldedMemory> Take(model::LossLedger& ledger) &&;

 private:
  // What else is known of the blocks of one thread and stack.
  struct OfSum {
    // The sum's at_peak is valid if these are the heap's: the lower bits.
    uint32_t peaks = 0;
    uint32_t thread = 0;  // in last_block
  };
  // What ranges need. Empty without kChanges.
  struct OfRanges {
    std::map<model::TrackIndex, model::FoldedChanges> threads;
    // The blocks of the latest peak that have ended since.
    std::vector<LiveBlocks::Block> ended;
    // The thread of the last change.
    model::FoldedChanges* last = nullptr;
    model::TrackIndex last_track = 0;
  };
  struct Heap {
    model::FoldedHeap folded;  // its stacks are the sums, not sorted yet
    LiveBlocks live;
    std::vector<OfSum> of_sums;  // by index of the sum
    IndexTable sum_of;           // by track and stack
    std::unordered_map<model::TrackIndex, uint32_t> thread_of;
    // By thread: its last block, while it has allocated no other.
    std::vector<uint64_t> last_block;
    HeapCurve curve;
    OfRanges of_ranges;
    int64_t live_bytes = 0;  // of the present program
    uint32_t program = 0;
    uint32_t peaks = 1;        // how many there were; the lower bits
    bool is_finished = false;  // has only `folded`
  };

  // A sum that was found lately.
  struct Recent {
    const Heap* heap = nullptr;
    uint64_t key = 0;
    uint32_t sum = 0;
  };
  static constexpr int kRecentBits = 12;

  Heap& HeapOf(int64_t pid);
  uint32_t SumOf(Heap& heap, model::TrackIndex track, model::StackId stack);
  // `sum` is the one with the index, as it is now.
  static void ChangeAlive(Heap& heap, uint32_t index,
                          const model::BlockSum& change,
                          model::FoldedStack& sum);
  // `ended`: the bytes of blocks that ended at the same time.
  void Allocate(Heap& heap, model::TrackIndex track, const HeapRecord& record,
                int64_t ended);
  void Free(Heap& heap, model::TrackIndex track, const HeapRecord& record);
  // Returns the bytes that it had.
  int64_t EndProgram(Heap& heap, const HeapThread& thread, TimeNs time_ns);
  void AddChange(Heap& heap, model::TrackIndex track,
                 const model::FoldedChange& change);
  void EndBlock(Heap& heap, const LiveBlocks::Block& block, bool is_temporary);
  void AddToCurves(Heap& heap, TimeNs time_ns, int64_t change);
  static void FinishPeak(Heap& heap);
  static void Finish(Heap& heap);

  const bool with_changes_;

  std::map<int64_t, Heap> heaps_;  // by pid
  Heap* last_heap_ = nullptr;
  int64_t last_pid_ = 0;
  std::vector<Recent> recent_ = std::vector<Recent>(size_t{1} << kRecentBits);
  int64_t frees_of_unknown_ = 0;
  int64_t frees_not_seen_ = 0;
  // All heaps together.
  HeapCurve curve_;
  int64_t live_bytes_ = 0;
  int64_t moments_ = 0;
  int64_t moment_us_ = 0;  // the present microsecond
  TimeNs moment_ns_ = 0;   // the first time in it
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_HEAP_FOLD_H_
