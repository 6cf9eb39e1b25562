#include "backends/stream/decode/heap_streams.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "backends/stream/decode/decode_chunk.h"
#include "backends/stream/decode/heap_fold.h"
#include "backends/stream/decode/test_chunk.h"
#include "gtest/gtest.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/loss_ledger.h"

namespace kymo::stream {
namespace {

using model::BlockSum;
using model::Loss;
using record::Slot;
using record::SlotKind;

// Threads 71 and 72 of process 7, and thread 81 of process 8.
class HeapStreamsTest : public testing::Test {
 protected:
  static constexpr int64_t kPids[] = {7, 7, 8};

  Slot& Allocate(TestChunk& chunk, uint64_t time, uint64_t address,
                 uint32_t bytes) {
    return chunk.Add(SlotKind::kAllocation, time, address, bytes);
  }
  void Free(TestChunk& chunk, uint64_t time, uint64_t address) {
    chunk.Add(SlotKind::kFree, time, address, 0);
  }

  void Decode(const std::vector<const TestChunk*>& chunks) {
    shard_.ledger = model::LossLedger();
    shard_.tracks = {
        {.pid = 7, .id = 71}, {.pid = 7, .id = 72}, {.pid = 8, .id = 81}};
    shard_.memory = {};
    shard_.folded_memory = nullptr;
    stacks_.clear();
    ids_.clear();
    released_ = 0;
    DecodeInput input = {
        .stream_tracks = {0, 1, 2},
        .name_text = [](uint32_t) { return std::string_view("name"); },
        .name_limit = 1,
        .clock =
            TickConverter(ClockSource::kSystem, {.ticks = 0}, {.ticks = 1}, 0),
        .recorded = recorded_,
        .stack =
            [this](int64_t pid, std::span<const uint64_t> pcs) {
              stacks_.push_back(std::to_string(pid));
              for (const uint64_t pc : pcs) {
                stacks_.back() += " " + std::to_string(pc);
              }
              return model::StackId{
                  ids_.try_emplace(stacks_.back(), ids_.size() + 1)
                      .first->second};
            },
        .with_memory = with_memory_,
        .fold_heap_above = fold_above_,
        .release = [this](const record::ChunkView&) { ++released_; }};
    for (const TestChunk* chunk : chunks) input.chunks.push_back(chunk->view());
    DecodeChunks(input, shard_);
  }
  bool IsFolded(const std::vector<const TestChunk*>& chunks) {
    Decode(chunks);
    return shard_.folded_memory != nullptr;
  }
  const model::FoldedHeap& heap(size_t i = 0) const {
    return shard_.folded_memory->heaps.at(i);
  }

  bool with_memory_ = true;
  uint64_t fold_above_ = 0;
  std::vector<TickInterval> recorded_;
  model::TraceShard shard_;
  std::vector<std::string> stacks_;  // that were read
  std::map<std::string, uint32_t> ids_;
  std::atomic<int> released_ = 0;
};

// Of records of one time, those of the first thread come first.
TEST_F(HeapStreamsTest, RecordsOfAllThreadsAreReadByTime) {
  TestChunk first(0, 1), second(1, 2), later(0, 3);
  Allocate(first, 10, 16, 100);
  Free(second, 20, 16);
  Allocate(first, 30, 16, 50);
  Free(second, 30, 16);
  Free(second, 35, 32);  // before it is allocated
  Allocate(later, 40, 32, 7);
  Free(second, 50, 32);
  Allocate(later, 60, 48, 1);
  Decode({&later, &second, &first});
  EXPECT_EQ(heap().allocated, (BlockSum{4, 158}));
  EXPECT_EQ(heap().freed, (BlockSum{3, 157}));
  EXPECT_EQ(heap().replaced, (BlockSum{0, 0}));
  EXPECT_EQ(heap().first_ns, 10);
  EXPECT_EQ(heap().peak_ns, 10);
  EXPECT_EQ(
      heap().live,
      (std::vector<model::FoldedPoint>{
          {10, 100}, {20, 0}, {30, 50}, {30, 0}, {40, 7}, {50, 0}, {60, 1}}));
  EXPECT_EQ(shard_.ledger.Get(Loss::kFreesOfUnknownBlocks), 1u);
  EXPECT_EQ(shard_.memory.size(), 0u);
  // Once when they are counted and once when they are folded.
  EXPECT_EQ(released_, 6);
}

TEST_F(HeapStreamsTest, RecordsOfOneChunkAreSortedByTime) {
  TestChunk chunk(0, 1);
  Allocate(chunk, 30, 16, 2);
  Allocate(chunk, 10, 16, 1);
  Free(chunk, 20, 16);
  Decode({&chunk});
  EXPECT_EQ(heap().live,
            (std::vector<model::FoldedPoint>{{10, 1}, {20, 0}, {30, 2}}));
}

TEST_F(HeapStreamsTest, ProcessesHaveHeapsOfTheirOwn) {
  TestChunk first(0, 1), second(2, 2);
  Allocate(first, 10, 16, 1);
  Allocate(second, 11, 16, 2);
  Free(second, 12, 16);
  Decode({&first, &second});
  ASSERT_EQ(shard_.folded_memory->heaps.size(), 2u);
  EXPECT_EQ(heap(0).allocated, (BlockSum{1, 1}));
  EXPECT_EQ(heap(0).freed, (BlockSum{0, 0}));
  EXPECT_EQ(heap(1).track, 2u);
  EXPECT_EQ(heap(1).freed, (BlockSum{1, 2}));
}

TEST_F(HeapStreamsTest, AnotherProgramBeginsWithItsFirstNanosecond) {
  TestChunk chunk(0, 1);
  Allocate(chunk, 10, 32, 1);
  Allocate(chunk, 20, 16, 2);
  shard_.processes = {{.pid = 7, .start_ns = 5}, {.pid = 7, .start_ns = 20}};
  Decode({&chunk});
  EXPECT_EQ(heap().replaced, (BlockSum{1, 1}));
  ASSERT_EQ(heap().stacks.size(), 1u);
  EXPECT_EQ(heap().stacks[0].alive, (BlockSum{1, 2}));
  EXPECT_EQ(heap().peak_bytes, 2);
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kFreesNotSeen), 0u);
  shard_.processes[1].start_ns = 21;
  Decode({&chunk});
  EXPECT_EQ(heap().replaced, (BlockSum{0, 0}));
  EXPECT_EQ(heap().stacks[0].alive, (BlockSum{2, 3}));
}

TEST_F(HeapStreamsTest, TheFirstProgramOfAProcessReplacesNone) {
  const std::vector<model::Process> processes = {{.pid = 7, .start_ns = 300},
                                                 {.pid = 9, .start_ns = 50},
                                                 {.pid = 8},
                                                 {.pid = 7, .start_ns = 100},
                                                 {.pid = 7, .start_ns = 200}};
  EXPECT_EQ(LaterProgramsOf(processes),
            (LaterPrograms{{7, {200, 300}}, {9, {}}}));
}

TEST_F(HeapStreamsTest, EachStackIsReadOnceAProcess) {
  TestChunk first(0, 1), second(1, 2), other(2, 3);
  first.AddStack({100, 5}, Allocate(first, 10, 16, 1));
  first.AddStack({100}, Allocate(first, 11, 32, 1));
  first.AddStack({100, 5}, Allocate(first, 12, 48, 1), /*key=*/1);
  second.AddStack({100, 5}, Allocate(second, 13, 64, 1));
  second.AddStack({100, 5}, Allocate(second, 14, 80, 1), /*key=*/1);
  second.AddStack({100, 5}, Allocate(second, 15, 81, 1));
  second.AddStack({100, 5}, Allocate(second, 16, 82, 1), /*key=*/1);
  other.AddStack({100, 5}, Allocate(other, 17, 96, 1));
  Allocate(other, 18, 112, 1);
  Decode({&first, &second, &other});
  // A payload that was cut differs from one that was not.
  EXPECT_EQ(stacks_, (std::vector<std::string>{"7 100 5", "7 100", "7 100 5",
                                               "8 100 5"}));
  EXPECT_EQ(shard_.ledger.Get(Loss::kStacksTruncated), 3u);
  ASSERT_EQ(heap(0).stacks.size(), 3u);
  EXPECT_EQ(heap(0).stacks[0].stack, model::StackId{1});
  EXPECT_EQ(heap(0).stacks[0].allocated, (BlockSum{2, 2}));
  EXPECT_EQ(heap(0).stacks[1].stack, model::StackId{2});
  EXPECT_EQ(heap(0).stacks[2].track, 1u);
  EXPECT_EQ(heap(0).stacks[2].stack, model::StackId{1});
  EXPECT_EQ(heap(0).stacks[2].allocated, (BlockSum{4, 4}));
  ASSERT_EQ(heap(1).stacks.size(), 2u);
  EXPECT_EQ(heap(1).stacks[0].stack, model::kEmptyStack);
  EXPECT_EQ(heap(1).stacks[1].stack, model::StackId{3});
}

// More than the table of stacks begins with.
TEST_F(HeapStreamsTest, ManyStacksStayApart) {
  constexpr uint64_t kStacks = 5'000;
  std::vector<TestChunk> chunks;
  uint64_t time = 0;
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < kStacks; ++i) {
      if (i % 1'000 == 0) chunks.emplace_back(0, chunks.size() + 1);
      chunks.back().AddStack({i}, Allocate(chunks.back(), ++time, 16, 1));
    }
  }
  std::vector<const TestChunk*> all;
  for (const TestChunk& chunk : chunks) all.push_back(&chunk);
  Decode(all);
  EXPECT_EQ(stacks_.size(), kStacks);
  ASSERT_EQ(heap().stacks.size(), kStacks);
  for (const model::FoldedStack& stack : heap().stacks) {
    ASSERT_EQ(stack.allocated, (BlockSum{3, 3}));
  }
}

TEST_F(HeapStreamsTest, BrokenPayloadsAndAddressesAreSurvived) {
  TestChunk chunk(0, 1);
  chunk.AddStack({100}, Allocate(chunk, 10, 16, 1));
  // It says that it is longer than the record.
  reinterpret_cast<record::PayloadHeader*>(&chunk.slots()[1])->size_bytes =
      60'000;
  Free(chunk, 11, 0);
  Free(chunk, 12, 0);
  Decode({&chunk});
  EXPECT_TRUE(stacks_.empty());
  EXPECT_EQ(heap().allocated, (BlockSum{1, 1}));
  EXPECT_EQ(shard_.ledger.Get(Loss::kFreesOfUnknownBlocks), 2u);
}

TEST_F(HeapStreamsTest, OnlyRecordsOfTheSessionsIntervalsCount) {
  TestChunk chunk(0, 1);
  for (const uint64_t time : {9, 10, 19, 20}) {
    Allocate(chunk, time, 16 * time, 1);
  }
  recorded_ = {{10, 20}};
  Decode({&chunk});
  EXPECT_EQ(heap().allocated, (BlockSum{2, 2}));
  EXPECT_EQ(heap().first_ns, 10);
}

TEST_F(HeapStreamsTest, FewRecordsAreKeptOneByOne) {
  TestChunk chunk(0, 1);
  for (uint64_t i = 1; i <= 3; ++i) Allocate(chunk, i, 16 * i, 1);
  Allocate(chunk, 4, 0, 1);  // failed: no block
  fold_above_ = 3;
  EXPECT_FALSE(IsFolded({&chunk}));
  EXPECT_EQ(shard_.memory.size(), 4u);
  fold_above_ = 2;
  EXPECT_TRUE(IsFolded({&chunk}));
  ASSERT_EQ(shard_.memory.size(), 1u);
  EXPECT_EQ(shard_.memory[0].event, model::MemoryEvent::kOutOfMemory);
  with_memory_ = false;
  EXPECT_FALSE(IsFolded({&chunk}));
  EXPECT_EQ(shard_.memory.size(), 0u);
}

// Only ranges need more than sums, and captured instants, which have nodes.
TEST_F(HeapStreamsTest, ChangesAreKeptBesideRanges) {
  TestChunk heap(0, 1), range(1, 2), report(1, 3), other(1, 4);
  TestChunk instant(1, 5), captured(1, 6);
  const auto has_changes = [this] {
    return !shard_.folded_memory->heaps.at(0).threads.empty();
  };
  Allocate(heap, 1, 16, 1);
  range.Add(SlotKind::kRange, 1, 2, 0);
  report.Add(SlotKind::kMemory, 1, 16, 0);
  other.Add(SlotKind::kMemory, 1, 16, 0).flags = record::kMemoryOutOfMemory;
  other.Add(SlotKind::kCounter, 1, 0, 0);
  instant.Add(SlotKind::kInstant, 1, 0, 0);
  captured.Add(SlotKind::kInstant, 1, 0, 0).flags = record::kSlotNvtx;
  ASSERT_TRUE(IsFolded({&heap, &range}));
  EXPECT_TRUE(has_changes());
  ASSERT_TRUE(IsFolded({&heap, &captured}));
  EXPECT_TRUE(has_changes());
  ASSERT_TRUE(IsFolded({&heap, &instant}));
  EXPECT_FALSE(has_changes());
  ASSERT_TRUE(IsFolded({&heap, &report}));
  EXPECT_FALSE(has_changes());
  ASSERT_TRUE(IsFolded({&heap, &other}));
  EXPECT_EQ(shard_.memory.size(), 1u);
  EXPECT_EQ(shard_.counters.size(), 1u);
}

// A clock that went back within a chunk is put right there; from chunk to chunk
// it is not.
TEST_F(HeapStreamsTest, ChunksThatAreNotInOrderAreNotFolded) {
  TestChunk first(0, 1), same(0, 2), back(0, 3), other(1, 4);
  Allocate(first, 10, 16, 1);
  Allocate(first, 12, 32, 1);
  Allocate(same, 12, 48, 1);
  Allocate(back, 13, 64, 1);
  Allocate(back, 11, 80, 1);
  Allocate(other, 5, 96, 1);  // of another thread
  EXPECT_TRUE(IsFolded({&first, &same, &other}));
  EXPECT_FALSE(IsFolded({&first, &same, &back}));
  EXPECT_EQ(shard_.memory.size(), 5u);
}

// A broken target can say so. A packed change has 62 bits for its bytes.
TEST(HeapFoldTest, BlocksThatAnotherProgramEndsMayHaveMoreBytesThanAChange) {
  constexpr int64_t kBlocks = 16'400;
  HeapFold fold(HeapFold::With::kChanges);
  HeapThread thread = {.pid = 1, .track = 0};
  TimeNs time = 0;
  for (int64_t i = 1; i <= kBlocks; ++i) {
    fold.Add(thread, {.time_ns = ++time,
                      .address = static_cast<uint64_t>(16 * i),
                      .bytes = kMostBytes});
  }
  thread.program = 1;
  fold.Add(thread, {.time_ns = ++time, .address = 16, .bytes = 1});
  model::LossLedger ledger;
  const auto folded = std::move(fold).Take(ledger);
  int64_t live_bytes = 0;
  folded->heaps[0].threads.at(0).changes.ForEach(
      [&](const model::FoldedChange& change) { live_bytes += change.bytes; });
  EXPECT_EQ(live_bytes, 1);
}

}  // namespace
}  // namespace kymo::stream
