#include "backends/stream/decode/heap_fold.h"

#include <malloc.h>

#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "backends/stream/decode/decode_chunk.h"
#include "backends/stream/decode/heap_estimate.h"
#include "gtest/gtest.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {
namespace {

using record::Slot;
using record::SlotKind;

// A build runs thousands of processes, one after the other.
TEST(HeapFoldTest, ProcessesThatHaveEndedTakeLittle) {
  constexpr int kProcesses = 2'000;
  constexpr int kBlocks = 100;
  HeapFold fold;
  const size_t before = mallinfo2().uordblks;
  TimeNs time = 1'000;
  for (int pid = 1; pid <= kProcesses; ++pid) {
    const HeapThread thread = {.pid = pid,
                               .track = static_cast<model::TrackIndex>(pid)};
    for (uint64_t i = 1; i <= kBlocks; ++i) {
      fold.Add(thread, {.time_ns = ++time, .address = 16 * i, .bytes = 10});
    }
    fold.End(pid);
  }
  const size_t kept = mallinfo2().uordblks - before;
  // The heap's sums and histograms, and 16 bytes for each point: of its curve,
  // and of the curve of all.
  EXPECT_LT(kept / kProcesses, 3'000 + 2 * 16 * kBlocks);

  model::LossLedger ledger;
  const auto folded = std::move(fold).Take(ledger);
  ASSERT_EQ(folded->heaps.size(), size_t{kProcesses});
  for (const model::FoldedHeap& heap : folded->heaps) {
    ASSERT_EQ(heap.stacks.size(), 1u);
    EXPECT_EQ(heap.stacks[0].at_peak, (model::BlockSum{kBlocks, 1'000}));
    EXPECT_EQ(heap.live.size(), size_t{kBlocks});
  }
}

// A temporary block is the last one of its thread, whatever the others do.
TEST(HeapFoldTest, TemporaryBlocksAreKnownByThread) {
  HeapFold fold;
  const HeapThread a = {.pid = 1, .track = 70'000};
  const HeapThread b = {.pid = 1, .track = 3};
  fold.Add(a, {.time_ns = 1, .address = 16, .bytes = 5});
  fold.Add(b, {.time_ns = 2, .address = 32, .bytes = 7});
  fold.Add(a, {.time_ns = 3, .address = 16, .is_free = true});
  fold.Add(a, {.time_ns = 4, .address = 32, .is_free = true});
  model::LossLedger ledger;
  const auto folded = std::move(fold).Take(ledger);
  ASSERT_EQ(folded->heaps[0].stacks.size(), 2u);
  EXPECT_EQ(folded->heaps[0].stacks[0].temporary, (model::BlockSum{0, 0}));
  EXPECT_EQ(folded->heaps[0].stacks[1].temporary, (model::BlockSum{1, 5}));
}

// Finds what HeapFold says in the plainest way: each new peak copies all sums.
class PlainHeap {
 public:
  void Add(const HeapThread& thread, const HeapRecord& record) {
    if (thread.program != program_ && !record.is_free) {
      program_ = thread.program;
      for (const auto& [address, block] : live_) {
        heap.replaced += {1, block.first.bytes};
        End(block);
      }
      live_.clear();
      last_block_.clear();
    }
    const auto old =
        thread.program == program_ ? live_.find(record.address) : live_.end();
    if (record.is_free) {
      if (old == live_.end()) {
        ++frees_of_unknown;
        return;
      }
      const auto& [block, key] = old->second;
      const model::BlockSum one = {1, block.bytes};
      heap.freed += one;
      ++heap.lifetimes[std::bit_width(
          static_cast<uint64_t>(record.time_ns - block.time_ns))];
      if (key.first == thread.track &&
          last_block_[thread.track] == record.address) {
        sums_[key].temporary += one;
      }
      End(old->second);
      live_.erase(old);
    } else {
      if (heap.allocated.count == 0) {
        heap.track = thread.track;
        heap.first_ns = record.time_ns;
      }
      const Key key = {thread.track, record.stack};
      const model::BlockSum one = {1, record.bytes};
      heap.allocated += one;
      ++heap.sizes[std::bit_width(static_cast<uint64_t>(record.bytes))];
      if (old != live_.end()) {
        heap.replaced += {1, old->second.first.bytes};
        ++frees_not_seen;
        End(old->second);
      }
      live_[record.address] = {record, key};
      sums_[key].allocated += one;
      sums_[key].alive += one;
      live_bytes_ += record.bytes;
      last_block_[thread.track] = record.address;
    }
    heap.live.push_back({record.time_ns, live_bytes_});
    if (live_bytes_ > heap.peak_bytes) {
      heap.peak_bytes = live_bytes_;
      heap.peak_ns = record.time_ns;
      for (auto& [key, sum] : sums_) sum.at_peak = sum.alive;
    }
  }
  void End() {
    for (auto& [key, sum] : sums_) {
      sum.track = key.first;
      sum.stack = key.second;
      heap.stacks.push_back(sum);
    }
  }

  model::FoldedHeap heap;
  uint64_t frees_of_unknown = 0, frees_not_seen = 0;

 private:
  using Key = std::pair<model::TrackIndex, model::StackId>;
  void End(const std::pair<HeapRecord, Key>& block) {
    sums_[block.second].alive += {-1, -block.first.bytes};
    live_bytes_ -= block.first.bytes;
  }

  std::map<uint64_t, std::pair<HeapRecord, Key>> live_;
  std::map<Key, model::FoldedStack> sums_;
  std::map<model::TrackIndex, uint64_t> last_block_;
  int64_t live_bytes_ = 0;
  uint32_t program_ = 0;
};

void ExpectEqual(const model::FoldedHeap& heap,
                 const model::FoldedHeap& expected) {
  EXPECT_EQ(heap.track, expected.track);
  EXPECT_EQ(heap.first_ns, expected.first_ns);
  EXPECT_EQ(heap.allocated, expected.allocated);
  EXPECT_EQ(heap.freed, expected.freed);
  EXPECT_EQ(heap.replaced, expected.replaced);
  EXPECT_EQ(heap.peak_bytes, expected.peak_bytes);
  EXPECT_EQ(heap.peak_ns, expected.peak_ns);
  EXPECT_EQ(heap.sizes, expected.sizes);
  EXPECT_EQ(heap.lifetimes, expected.lifetimes);
  EXPECT_TRUE(heap.live == expected.live);
  ASSERT_EQ(heap.stacks.size(), expected.stacks.size());
  for (size_t i = 0; i < heap.stacks.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(heap.stacks[i].track, expected.stacks[i].track);
    EXPECT_EQ(heap.stacks[i].stack, expected.stacks[i].stack);
    EXPECT_EQ(heap.stacks[i].allocated, expected.stacks[i].allocated);
    EXPECT_EQ(heap.stacks[i].temporary, expected.stacks[i].temporary);
    EXPECT_EQ(heap.stacks[i].alive, expected.stacks[i].alive);
    EXPECT_EQ(heap.stacks[i].at_peak, expected.stacks[i].at_peak);
  }
}

// Two processes with three threads each, of which one becomes another program.
// So many blocks live that the table grows twice.
TEST(HeapFoldTest, RandomRecordsHaveTheSumsOfThePlainestWay) {
  std::mt19937_64 random(11);
  HeapFold fold;
  PlainHeap plain[2];
  for (int i = 0; i < 12'000; ++i) {
    const int64_t pid = 1 + static_cast<int64_t>(random() % 2);
    const HeapThread thread = {
        .pid = pid,
        .track = static_cast<model::TrackIndex>(3 * pid + random() % 3),
        .program = pid == 2 && i > 9'000};
    const uint64_t most = i < 8'000 ? 6'000 : 60;  // many blocks, then few
    HeapRecord record = {.time_ns = 1'000 + i / 3 * 7,
                         .address = 16 * (1 + random() % most),
                         .is_free = random() % 5 < 2};
    if (!record.is_free) {
      record.bytes = static_cast<int64_t>(random() % 4 << random() % 12);
      record.stack = model::StackId{static_cast<uint32_t>(random() % 6)};
    }
    fold.Add(thread, record);
    plain[pid - 1].Add(thread, record);
  }
  fold.Add({.pid = 3, .track = 9},
           {.time_ns = 40'000, .address = 16, .is_free = true});
  fold.End(1);
  model::LossLedger ledger;
  const auto folded = std::move(fold).Take(ledger);
  // Process 3 has allocated nothing.
  ASSERT_EQ(folded->heaps.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    SCOPED_TRACE(i);
    plain[i].End();
    ExpectEqual(folded->heaps[i], plain[i].heap);
  }
  EXPECT_EQ(ledger.Get(model::Loss::kFreesOfUnknownBlocks),
            plain[0].frees_of_unknown + plain[1].frees_of_unknown + 1);
  EXPECT_EQ(ledger.Get(model::Loss::kFreesNotSeen),
            plain[0].frees_not_seen + plain[1].frees_not_seen);
}

// PyTorch's timeline has a row for each microsecond: the double nearest to the
// time, cut off. Of today's times such doubles are 1/4 us apart.
TEST(HeapFoldTest, TheCurveOfAllHeapsHasAPointForEachMicrosecond) {
  constexpr TimeNs kDay = 1'700'000'000'000'000'000;
  HeapFold fold;
  for (const TimeNs ns : {100, 870, 880, 1'001, 1'870, 5'000}) {
    fold.Add({.pid = ns % 3}, {.time_ns = kDay + ns,
                               .address = static_cast<uint64_t>(ns),
                               .bytes = 10});
  }
  model::LossLedger ledger;
  const auto folded = std::move(fold).Take(ledger);
  EXPECT_EQ(folded->live,
            (std::vector<model::FoldedPoint>{
                {kDay + 100, 20}, {kDay + 880, 50}, {kDay + 5'000, 60}}));
  EXPECT_EQ(folded->live_moments, 3);
  const auto empty = HeapFold().Take(ledger);
  EXPECT_TRUE(empty->live.empty());
  EXPECT_EQ(empty->live_moments, 0);
  EXPECT_TRUE(empty->heaps.empty());
}

TEST(HeapFoldTest, BlocksOfNoBytesHaveNoPeak) {
  HeapFold fold;
  fold.Add({.pid = 1}, {.time_ns = 1, .address = 16, .bytes = 0});
  model::LossLedger ledger;
  const auto folded = std::move(fold).Take(ledger);
  EXPECT_EQ(folded->heaps[0].peak_ns, 0);
  EXPECT_EQ(folded->heaps[0].stacks[0].alive, (model::BlockSum{1, 0}));
  EXPECT_EQ(folded->heaps[0].stacks[0].at_peak, (model::BlockSum{0, 0}));
}

TEST(HeapBytesTest, SumsOfTheLargestBlocksDoNotOverflow) {
  Slot slot;
  slot.name = ~uint32_t{0};
  slot.flags = ~uint32_t{0};
  slot.end.store(16);
  EXPECT_GE(HeapBytesOf(slot), int64_t{1} << 47);  // the addresses of x86-64
  EXPECT_LT(HeapBytesOf(slot), std::numeric_limits<int64_t>::max() / 30'000);
  slot.end.store(0);  // it failed: as large as was asked for
  slot.name = 0;
  slot.flags = 1u << 29;
  EXPECT_EQ(HeapBytesOf(slot), int64_t{1} << 61);
}

class HeapEstimateTest : public testing::Test {
 protected:
  Slot& Add(SlotKind kind, uint64_t address) {
    Slot& slot = slots_[used_++];
    slot.begin.store(used_);
    slot.end.store(address);
    slot.kind_scope_depth = record::PackKind(kind, 0, 0);
    return slot;
  }

  void AddAllocation(uint64_t address, uint64_t pc) {
    Add(SlotKind::kAllocation, address).extra_slots = 1;
    const record::PayloadHeader header = {.kind = record::PayloadKind::kStack,
                                          .continues = 0,
                                          .size_bytes = sizeof(pc),
                                          .key = 0};
    char* const at = reinterpret_cast<char*>(&slots_[used_++]);
    std::memcpy(at, &header, sizeof(header));
    std::memcpy(at + sizeof(header), &pc, sizeof(pc));
  }

  std::optional<uint64_t> Bytes(uint64_t most = uint64_t{1} << 40) const {
    const std::vector<record::ChunkView> chunks = {
        {.slots = std::span(slots_).first(used_)}};
    return FoldedTraceBytes({.chunks = chunks,
                             .fold_above = 100,
                             .others_record_ranges = others_record_ranges_,
                             .most_bytes = most});
  }

  std::vector<Slot> slots_ = std::vector<Slot>(100'000);
  size_t used_ = 0;
  bool others_record_ranges_ = false;
};

TEST_F(HeapEstimateTest, ManyRecordsOfFewBlocksTakeLittle) {
  for (int i = 0; i < 10'000; ++i) {
    AddAllocation(16, 7);
    Add(SlotKind::kFree, 16);
  }
  ASSERT_TRUE(Bytes().has_value());
  EXPECT_LT(*Bytes(), 10'000u);
}

// Also if all of them are freed in the end.
TEST_F(HeapEstimateTest, LiveBlocksAndDifferentStacksCount) {
  for (uint64_t i = 1; i <= 10'000; ++i) AddAllocation(16 * i, 7);
  for (uint64_t i = 1; i <= 10'000; ++i) Add(SlotKind::kFree, 16 * i);
  ASSERT_TRUE(Bytes().has_value());
  // The least that a table of 32 bytes a block takes, three quarters full.
  EXPECT_GT(*Bytes(), 10'000u * 32 * 4 / 3);
  EXPECT_FALSE(Bytes(10'000 * 32).has_value());
  const uint64_t before = *Bytes();
  for (uint64_t i = 1; i <= 1'000; ++i) {
    AddAllocation(16, 1'000 + i);
    Add(SlotKind::kFree, 16);
  }
  EXPECT_GT(*Bytes(), before + 1'000 * 160);
  EXPECT_LT(*Bytes(), before + 1'000 * 320);
}

// 128 bytes a block that lives, 250 a stack, 3 for each byte of other records.
// With ranges, 12 a record of the heap and 96 a block of the peak.
TEST_F(HeapEstimateTest, IsTheSumOfItsParts) {
  for (uint64_t i = 1; i <= 101; ++i) AddAllocation(16 * i, i % 2);
  Add(SlotKind::kFree, 16);
  constexpr uint64_t kHeap = 101 * 128 + 2 * 250;
  EXPECT_EQ(Bytes(), kHeap);
  EXPECT_EQ(Bytes(kHeap), kHeap);
  EXPECT_FALSE(Bytes(kHeap - 1).has_value());
  Add(SlotKind::kCounter, 0);
  EXPECT_EQ(Bytes(), kHeap + 3 * 32);
  Add(SlotKind::kMapping, 0).extra_slots = 2;
  used_ += 2;
  EXPECT_EQ(Bytes(), kHeap + 3 * 32 * 4);
  // A failed allocation is none of the heap's blocks.
  Add(SlotKind::kAllocation, 0);
  EXPECT_EQ(Bytes(), kHeap + 3 * 32 * 5);
  Add(SlotKind::kMemory, 0).flags = record::kMemoryOutOfMemory;
  Add(SlotKind::kMemory, 0);
  EXPECT_EQ(Bytes(), kHeap + 3 * 32 * 7);
  // What other backends record may have the heap's bytes, too.
  others_record_ranges_ = true;
  EXPECT_EQ(Bytes(), kHeap + 3 * 32 * 7 + 102 * 12 + 101 * 96);
  others_record_ranges_ = false;
  Add(SlotKind::kInstant, 0);
  EXPECT_EQ(Bytes(), kHeap + 3 * 32 * 8);
  // 101 allocations and a free; 101 blocks at the peak.
  Add(SlotKind::kRange, 0);
  EXPECT_EQ(Bytes(), kHeap + 3 * 32 * 9 + 102 * 12 + 101 * 96);
}

TEST_F(HeapEstimateTest, EachChunkIsReleasedWhenItWasRead) {
  for (int i = 0; i < 101; ++i) AddAllocation(16, 7);
  const std::span<const Slot> slots = std::span(slots_).first(used_);
  const std::vector<record::ChunkView> chunks = {
      {.slots = slots.first(100)},
      {.first_index = 100, .slots = slots.subspan(100)}};
  std::vector<uint32_t> released;
  const auto release = [&](const record::ChunkView& chunk) {
    released.push_back(chunk.first_index);
  };
  const HeapToEstimate heap = {.chunks = chunks,
                               .fold_above = 100,
                               .most_bytes = 1 << 20,
                               .release = release};
  EXPECT_TRUE(FoldedTraceBytes(heap).has_value());
  EXPECT_EQ(released, (std::vector<uint32_t>{0, 100}));
  // Nobody wants sums.
  EXPECT_FALSE(
      FoldedTraceBytes({.chunks = chunks, .most_bytes = 1 << 20}).has_value());
}

TEST_F(HeapEstimateTest, WhatIsNotFoldedHasNone) {
  for (int i = 0; i < 50; ++i) AddAllocation(16, 7);
  EXPECT_FALSE(Bytes().has_value());  // too few
  for (int i = 0; i < 51; ++i) AddAllocation(16, 7);
  EXPECT_TRUE(Bytes().has_value());
}

TEST_F(HeapEstimateTest, WithRangesEachRecordTakesAFewBytes) {
  for (int i = 0; i < 5'000; ++i) {
    AddAllocation(16, 7);
    Add(SlotKind::kFree, 16);
  }
  const uint64_t without = *Bytes();
  Add(SlotKind::kRange, 20);
  EXPECT_GE(*Bytes(), without + 10'000 * 4);
  EXPECT_LE(*Bytes(), without + 10'000 * 16);
  EXPECT_FALSE(Bytes(without + 10'000).has_value());
}

}  // namespace
}  // namespace kymo::stream
