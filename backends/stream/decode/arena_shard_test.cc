#include "backends/stream/decode/arena_shard.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/stream/decode/handed_on.h"
#include "backends/stream/decode/test_chunk.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {
namespace {

using model::Loss;

// The losses that a session finds which began with `before`.
std::string Losses(const record::Arena& arena, const LossCounters& before) {
  model::TraceShard shard;
  FillShard({.arena = arena,
             .clock = TickConverter(ClockSource::kSystem, {.ticks = 0},
                                    {.ticks = 1}, 0),
             .losses_at_start = before},
            shard);
  std::string text;
  for (size_t i = 0; i < static_cast<size_t>(Loss::kCount); ++i) {
    const uint64_t count = shard.ledger.Get(static_cast<Loss>(i));
    if (count == 0) continue;
    text += std::string(model::LossName(static_cast<Loss>(i))) + "=" +
            std::to_string(count) + " ";
  }
  return text;
}

TEST(ArenaShardTest, LossesAreThoseSinceTheSessionsStart) {
  record::Arena arena = record::Arena::CreateAnonymous(
      {.capacity_bytes = record::kChunkBytes,
       .chunk_bytes_total = record::kChunkBytes});
  ASSERT_TRUE(arena.valid());
  EXPECT_EQ(Losses(arena, {}), "");
  record::ArenaHeader& header = arena.header();
  // Each has a number of its own.
  header.dropped_in_handlers.store(1);
  header.events_without_stream.store(2);
  header.names_lost.store(3);
  header.texts_truncated.store(4);
  header.heap_samples_lost.store(5);
  header.heaps_not_watched.store(6);
  const std::string all = Losses(arena, {});
  for (const auto& [loss, count] :
       {std::pair(Loss::kEventsDroppedInHandlers, 1),
        std::pair(Loss::kEventsDroppedNoStream, 2),
        std::pair(Loss::kNamesDroppedTableFull, 3),
        std::pair(Loss::kArgumentsTruncated, 4),
        std::pair(Loss::kHeapSamplesLost, 5),
        std::pair(Loss::kHeapsNotWatched, 6)}) {
    EXPECT_NE(all.find(std::string(model::LossName(loss)) + "=" +
                       std::to_string(count) + " "),
              all.npos)
        << all;
  }
  // A session that begins now has lost nothing.
  const LossCounters before = ReadLosses(arena);
  EXPECT_EQ(Losses(arena, before), "");
  header.texts_truncated.store(11);
  EXPECT_EQ(Losses(arena, before),
            std::string(model::LossName(Loss::kArgumentsTruncated)) + "=7 ");
  arena.Unmap();
}

using record::Slot;
using record::SlotKind;

constexpr int64_t kOffsetNs = 1'000;

class FillShardTest : public testing::Test {
 protected:
  ~FillShardTest() override { arena_.Unmap(); }

  ArenaShardInput Input(const std::vector<const TestChunk*>& chunks) const {
    ArenaShardInput input = {
        .arena = arena_,
        .clock =
            TickConverter(ClockSource::kSystem, {.ticks = 0}, {.ticks = 1}, 0),
        .epoch_offset_ns = kOffsetNs};
    for (const TestChunk* chunk : chunks) input.chunks.push_back(chunk->view());
    return input;
  }
  void SetName(uint32_t stream, std::string_view name) const {
    uint64_t words[2] = {};
    std::memcpy(words, name.data(), name.size());
    for (int i = 0; i < 2; ++i) arena_.stream(stream).name[i].store(words[i]);
  }
  void SetCounts(uint32_t stream, uint64_t allocations, uint64_t frees,
                 uint64_t bytes) const {
    record::HeapCounts& counts = arena_.heap_counts(stream);
    counts.allocations.store(allocations);
    counts.frees.store(frees);
    counts.allocated_bytes.store(bytes);
  }
  std::string Text(model::NameId name) const {
    return std::string(shard_.strings.Get(name));
  }

  record::Arena arena_ = record::Arena::CreateAnonymous(
      {.capacity_bytes = 4 * record::kChunkBytes,
       .chunk_bytes_total = 4 * record::kChunkBytes});
  model::TraceShard shard_;
};

TEST_F(FillShardTest, TablesBecomeProcessesAndTracks) {
  arena_.AddProcess();  // not filled in yet
  record::ProcessEntry* const process = arena_.AddProcess();
  process->parent_pid = 3;
  process->attach_monotonic_ns = 100;
  std::memcpy(process->name, "program", 8);
  std::memcpy(process->command_line, "/bin/program\0-x\0", 17);
  process->pid.store(7);
  arena_.AddStream(7, 7);  // has no chunk
  const uint32_t worker = arena_.AddStream(7, 8);
  SetName(worker, "worker");
  arena_.stream(worker).logical_thread.store(5);
  const uint32_t renamed = arena_.AddStream(7, 9);
  SetName(renamed, "sixteen_letters_");
  TestChunk first(renamed, 1), second(worker, 2), third(renamed, 3),
      nobody(renamed + 1, 4);
  nobody.Add(SlotKind::kRange, 10, 20, 0);
  FillShard(Input({&first, &second, &third, &nobody}), shard_);
  ASSERT_EQ(shard_.processes.size(), 1u);
  EXPECT_EQ(shard_.processes[0].pid, 7);
  EXPECT_EQ(shard_.processes[0].parent_pid, 3);
  EXPECT_EQ(shard_.processes[0].start_ns, kOffsetNs + 100);
  EXPECT_EQ(Text(shard_.processes[0].name), "program");
  EXPECT_EQ(Text(shard_.processes[0].command_line), "/bin/program -x");
  ASSERT_EQ(shard_.tracks.size(), 2u);
  EXPECT_EQ(shard_.tracks[0].kind, model::TrackKind::kThread);
  EXPECT_EQ(shard_.tracks[0].pid, 7);
  EXPECT_EQ(shard_.tracks[0].id, 9);
  EXPECT_EQ(shard_.tracks[0].logical_id, 0u);
  EXPECT_EQ(Text(shard_.tracks[0].name), "sixteen_letters_");
  EXPECT_EQ(shard_.tracks[1].id, 8);
  EXPECT_EQ(shard_.tracks[1].logical_id, 5u);
  EXPECT_EQ(Text(shard_.tracks[1].name), "worker");
  EXPECT_EQ(shard_.ledger.Get(Loss::kRecordsCorrupt), 1u);

  arena_.stream(renamed).explicit_name.store(
      1 + arena_.InternName("a name of the program's own"));
  model::TraceShard again;
  FillShard(Input({&first}), again);
  EXPECT_EQ(again.strings.Get(again.tracks[0].name),
            "a name of the program's own");
}

TEST_F(FillShardTest, HeapCountsAreThoseSinceTheSessionsStart) {
  for (const int32_t tid : {7, 8, 9, 10}) arena_.AddStream(7, tid);
  SetCounts(0, 10, 5, 1'000);
  SetCounts(1, 1, 1, 8);
  const std::vector<HeapNumbers> before = ReadHeapNumbers(arena_);
  ASSERT_EQ(before.size(), 4u);
  EXPECT_EQ(before[0].allocations, 10u);
  EXPECT_EQ(before[0].frees, 5u);
  EXPECT_EQ(before[0].allocated_bytes, 1'000u);
  SetCounts(0, 13, 5, 1'064);
  SetCounts(2, 0, 2, 0);
  SetCounts(3, 4, 0, 40);
  const TestChunk chunk(3, 1);
  ArenaShardInput input = Input({&chunk});
  input.heap_at_start = {before[0], before[1]};  // two came later
  FillShard(input, shard_);
  const auto& counts = shard_.allocation_counts;
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(shard_.tracks[counts[0].track].id, 7);
  EXPECT_EQ(counts[0].allocations, 3u);
  EXPECT_EQ(counts[0].frees, 0u);
  EXPECT_EQ(counts[0].allocated_bytes, 64u);
  EXPECT_EQ(shard_.tracks[counts[1].track].id, 9);
  EXPECT_EQ(counts[1].frees, 2u);
  EXPECT_EQ(counts[2].track, 0u);  // it had one
  EXPECT_EQ(counts[2].allocated_bytes, 40u);
  EXPECT_EQ(shard_.tracks.size(), 3u);
  input.with_memory = false;
  model::TraceShard none;
  FillShard(input, none);
  EXPECT_TRUE(none.allocation_counts.empty());
  EXPECT_EQ(none.tracks.size(), 1u);
}

TEST_F(FillShardTest, ThreadsLossesAreAddedUp) {
  for (const int32_t tid : {7, 8}) {
    record::StreamEntry& stream = arena_.stream(arena_.AddStream(7, tid));
    stream.dropped.store(static_cast<uint64_t>(tid));
    stream.overwritten.store(static_cast<uint64_t>(10 * tid));
  }
  arena_.AddStart(7, "/none", 100);
  ArenaShardInput input = Input({});
  FillShard(input, shard_);
  EXPECT_EQ(shard_.ledger.Get(Loss::kEventsDroppedArenaFull), 15u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kEventsOverwritten), 150u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kProcessesNotRecorded), 1u);
  input.losses_at_start = ReadLosses(arena_);
  input.losses_at_start.dropped -= 4;
  input.losses_at_start.overwritten -= 1;
  input.losses_at_start.processes_not_recorded -= 1;
  input.was_to_hold_time = true;
  input.with_children = false;
  model::TraceShard later;
  FillShard(input, later);
  EXPECT_EQ(later.ledger.Get(Loss::kEventsDroppedArenaFull), 5u);
  EXPECT_EQ(later.ledger.Get(Loss::kEventsOverwritten), 0u);
  EXPECT_EQ(later.ledger.Get(Loss::kProcessesNotRecorded), 0u);
}

// A thread that takes a chunk from another one counts its events afterwards.
TEST_F(FillShardTest, EventsOfAChunkThatIsJustBeingTakenAreLost) {
  uint64_t ticket = 0;
  const uint32_t chunk =
      arena_.AcquireChunk(arena_.AddStream(7, 7), 0, &ticket);
  const auto add = [&](uint32_t index, SlotKind kind) {
    Slot& slot = arena_.slots(chunk)[index];
    slot.kind_scope_depth = record::PackKind(kind, 0, 0);
    slot.begin.store(1);
  };
  for (const uint32_t i : {0, 1, 2}) add(i, SlotKind::kRange);
  add(3, SlotKind::kEnd);
  add(record::kSlotsPerChunk - 1, SlotKind::kInstant);
  EXPECT_EQ(ReadLosses(arena_).overwritten, 0u);
  arena_.word(chunk).ticket.store(0);
  EXPECT_EQ(ReadLosses(arena_).overwritten, 4u);
  arena_.word(chunk).read_slots.store(2);  // somebody has them
  EXPECT_EQ(ReadLosses(arena_).overwritten, 2u);
  arena_.word(chunk).read_slots.store(~uint32_t{0});
  EXPECT_EQ(ReadLosses(arena_).overwritten, 0u);
  arena_.word(chunk).read_slots.store(0);
  arena_.word(chunk).owner.store(
      record::PackOwner(record::ChunkState::kSealed, 0));
  EXPECT_EQ(ReadLosses(arena_).overwritten, 0u);
}

TEST_F(FillShardTest, OnlyRangesMeansNoMemoryAndNoStacks) {
  const uint32_t stream = arena_.AddStream(7, 7);
  TestChunk chunk(stream, 1);
  chunk.AddStack({0x10021}, chunk.Add(SlotKind::kRange, 10, 20,
                                      arena_.InternName("work")));
  chunk.Add(SlotKind::kAllocation, 11, 16, 8);
  const record::MappingPayload mapping = {
      .start = 0x10000, .end = 0x11000, .file_offset = 0, .inode = 5};
  chunk.AddBytes(chunk.Add(SlotKind::kMapping, 12, 0, 0), BytesOf(mapping),
                 "/no/library");
  ArenaShardInput input = Input({&chunk});
  input.heap_sample_interval = 4'096;
  FillShard(input, shard_);
  EXPECT_EQ(shard_.memory_sample_interval, 4'096.0);
  EXPECT_EQ(shard_.memory.size(), 1u);
  EXPECT_EQ(Text(shard_.block.name[0]), "work");
  ASSERT_EQ(shard_.details.size(), 1u);
  const model::Frame& frame =
      shard_.stacks.frame(shard_.stacks.leaf(shard_.details[0].stack));
  EXPECT_EQ(Text(frame.function), "library+0x20");
  input.only_ranges = true;
  model::TraceShard ranges;
  FillShard(input, ranges);
  EXPECT_EQ(ranges.block.size(), 1u);
  EXPECT_EQ(ranges.memory.size(), 0u);
  EXPECT_EQ(ranges.ledger.Get(Loss::kMemoryRecordsLeftOut), 1u);
  EXPECT_EQ(ranges.stacks.stack_count(), 1u);  // the empty one
}

TEST_F(FillShardTest, OnlyWholeHeapsAreFolded) {
  TestChunk chunk(arena_.AddStream(7, 7), 1);
  chunk.Add(SlotKind::kAllocation, 11, 16, 8);
  ArenaShardInput input = Input({&chunk});
  input.fold_heap_above = 0;
  FillShard(input, shard_);
  EXPECT_NE(shard_.folded_memory, nullptr);
  input.heap_sample_interval = 1;  // sampled
  model::TraceShard sampled;
  FillShard(input, sampled);
  EXPECT_EQ(sampled.folded_memory, nullptr);
  EXPECT_EQ(sampled.memory.size(), 1u);
}

// glibc alone keeps blocks of up to 31 MiB in its heap when one of that size
// was freed.
TEST_F(FillShardTest, AfterAFoldLargeBlocksAreUnmappedWhenTheyAreFreed) {
  TestChunk chunk(arena_.AddStream(7, 7), 1);
  chunk.Add(SlotKind::kAllocation, 11, 16, 8);
  ArenaShardInput input = Input({&chunk});
  input.fold_heap_above = 0;
  FillShard(input, shard_);
  if (mallinfo2().arena == 0) GTEST_SKIP() << "a sanitizer's malloc";
  void* volatile freed = std::malloc(size_t{31} << 20);
  std::free(freed);
  const size_t before = mallinfo2().hblks;
  // More than the heap has by now.
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(std::malloc(size_t{24} << 20));
  EXPECT_GT(mallinfo2().hblks, before);
  for (void* const block : blocks) std::free(block);
  EXPECT_EQ(mallinfo2().hblks, before);
}

TEST_F(FillShardTest, ObjectsThatAreOpenWhenTheirThreadEndsAreAsynchronous) {
  const uint32_t runs = arena_.AddStream(7, 8);
  const uint32_t ended = arena_.AddStream(7, 9);
  const uint32_t lost = arena_.AddStream(7, 10);
  arena_.heap_counts(ended).thread_end_ns.store(50);
  arena_.heap_counts(lost).thread_end_ns.store(50);
  arena_.stream(lost).dropped.store(1);  // perhaps the end
  TestChunk of_runs(runs, 1), of_ended(ended, 2), of_lost(lost, 3);
  for (TestChunk* const chunk : {&of_runs, &of_ended, &of_lost}) {
    chunk->Add(SlotKind::kRange, 10, 0, 0);
    chunk->Add(SlotKind::kRange, 20, 30, 0);
  }
  for (const uint32_t source :
       {record::kSlotPushed, record::kSlotNvtx, record::kSlotItt}) {
    of_ended.Add(SlotKind::kRange, 40, 0, 0).flags = source;
  }
  FillShard(Input({&of_runs, &of_ended, &of_lost}), shard_);
  std::string flags;
  for (const uint8_t f : shard_.block.flags) {
    flags += f == model::kEventAsync ? 'a' : f == 0 ? '.' : '?';
  }
  // Two of each thread, and the three pushes of the second one.
  EXPECT_EQ(flags, "..a......");
}

// More of them are what longjmp left.
TEST_F(FillShardTest, AnEndedThreadHasHandedOnOnlySoManyObjects) {
  const auto async_ranges = [&](size_t count) {
    const uint32_t ended = arena_.AddStream(7, 9);
    arena_.heap_counts(ended).thread_end_ns.store(50);
    TestChunk chunk(ended, 1);
    for (size_t i = 0; i < count; ++i) {
      chunk.Add(SlotKind::kRange, 10 + i, 0, 0);
    }
    model::TraceShard shard;
    FillShard(Input({&chunk}), shard);
    return std::ranges::count(shard.block.flags, model::kEventAsync);
  };
  EXPECT_EQ(async_ranges(kMostHandedOn), kMostHandedOn);
  EXPECT_EQ(async_ranges(kMostHandedOn + 1), 0);
}

TEST_F(FillShardTest, RangesOfAReplacedProgramEndUnlessOthersMayHaveTheEnds) {
  uint32_t stream = 0;
  for (const uint64_t image : {1, 2}) {
    record::ProcessEntry* const process = arena_.AddProcess();
    process->attach_monotonic_ns = static_cast<int64_t>(image) * 100;
    process->image = image;
    process->pid.store(7);
    if (image == 1) stream = arena_.AddStream(7, 7);
  }
  arena_.stream(stream).process.store(1);
  TestChunk chunk(stream, 1);
  chunk.Add(SlotKind::kRange, 110, 0, 0);
  ArenaShardInput input = Input({&chunk});
  const std::vector<DecodedChunk> decoded = FillShard(input, shard_);
  EXPECT_EQ(decoded.at(0).replaced_ns, kOffsetNs + 200);
  EXPECT_EQ(shard_.block.end_ns[0], kOffsetNs + 200);
  EXPECT_EQ(shard_.block.flags[0], model::kEventOpen);
  input.is_elsewhere = [](uint64_t) { return false; };
  model::TraceShard part;
  EXPECT_EQ(FillShard(input, part).at(0).replaced_ns, kOffsetNs + 200);
  EXPECT_EQ(part.block.end_ns[0], 0);
}

}  // namespace
}  // namespace kymo::stream
