#include "backends/stream/decode/heap_fold.h"

#include <malloc.h>

#include <cstring>
#include <limits>
#include <optional>
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
    return FoldedTraceBytes(
        {.chunks = chunks, .fold_above = 100, .most_bytes = most});
  }

  std::vector<Slot> slots_ = std::vector<Slot>(100'000);
  size_t used_ = 0;
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
  EXPECT_GT(*Bytes(), before + 1'000 * 300);
}

TEST_F(HeapEstimateTest, WhatIsNotFoldedHasNone) {
  for (int i = 0; i < 50; ++i) AddAllocation(16, 7);
  EXPECT_FALSE(Bytes().has_value());  // too few
  for (int i = 0; i < 51; ++i) AddAllocation(16, 7);
  EXPECT_TRUE(Bytes().has_value());
  Add(SlotKind::kRange, 20);
  EXPECT_FALSE(Bytes().has_value());
}

}  // namespace
}  // namespace kymo::stream
