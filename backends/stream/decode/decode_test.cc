#include "backends/stream/decode/decode.h"

#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/stream/decode/test_chunk.h"
#include "gtest/gtest.h"
#include "profiler/base/column.h"

namespace kymo::stream {
namespace {

using record::ChunkView;
using record::PackKind;
using record::PayloadKind;
using record::Slot;
using record::SlotKind;

TickConverter Identity() {
  return TickConverter(ClockSource::kSystem, {.ticks = 0}, {.ticks = 1}, 0);
}

DecodeInput Input(const std::vector<ChunkView>& chunks) {
  return {
      .chunks = chunks,
      .stream_tracks = {0, 1, model::kNoTrack},
      .name_text =
          [](uint32_t id) {
            static const std::string names[] = {"lost", "one", "two", "three"};
            return std::string_view(names[id < 4 ? id : 0]);
          },
      .name_limit = 4,
      .clock = Identity()};
}

model::TraceShard Decode(const std::vector<const TestChunk*>& chunks,
                         uint64_t first_ticket = 0, int64_t second_pid = 0,
                         size_t memory_limit = ~size_t{0}) {
  model::TraceShard shard;
  shard.tracks.resize(2);
  shard.tracks[1].pid = second_pid;
  DecodeInput input = Input({});
  input.first_ticket = first_ticket;
  input.memory_limit = memory_limit;
  for (const TestChunk* chunk : chunks) input.chunks.push_back(chunk->view());
  DecodeChunks(input, shard);
  return shard;
}

TEST(DecodeTest, ChunksOfAStreamAreJoinedInTicketOrder) {
  TestChunk first(0, 5), second(0, 9), other(1, 7);
  first.Add(SlotKind::kRange, 10, 20, 1, 3);
  other.Add(SlotKind::kInstant, 15, 0, 3);
  second.Add(SlotKind::kRange, 30, 0, 2);
  const model::TraceShard shard = Decode({&second, &other, &first});
  const model::EventBlock& events = shard.block;
  ASSERT_EQ(events.parts.size(), 2u);
  EXPECT_EQ(events.parts[0].end, 2u);
  EXPECT_EQ(events.parts[1].end, 3u);
  EXPECT_EQ(events.start_ns, (Column<TimeNs>{10, 30, 15}));
  EXPECT_EQ(events.end_ns, (Column<TimeNs>{20, 0, 15}));
  EXPECT_EQ(events.depth, (Column<uint32_t>{3, 0, 0}));
  EXPECT_EQ(shard.strings.Get(events.name[1]), "two");
  EXPECT_EQ(events.flags[2], model::kEventInstant);
}

TEST(DecodeTest, StreamsStandInTheOrderOfTheirTracks) {
  TestChunk late(0, 1), early(1, 2);
  late.Add(SlotKind::kRange, 10, 20, 1);
  early.Add(SlotKind::kRange, 30, 40, 2);
  // The second track's process has the smaller id.
  const model::TraceShard shard = Decode({&late, &early}, 0, /*second_pid=*/-1);
  ASSERT_EQ(shard.block.parts.size(), 2u);
  EXPECT_EQ(shard.block.parts[0].track, 1u);
  EXPECT_EQ(shard.block.start_ns, (Column<TimeNs>{30, 10}));
}

TEST(DecodeTest, EndsFindTheirRangesInOtherChunksAndStreams) {
  TestChunk first(0, 1), second(0, 2), other(1, 3);
  first.Add(SlotKind::kRange, 10, 0, 1);
  first.Add(SlotKind::kRange, 11, 0, 2);
  second.Add(SlotKind::kEnd, 40, /*ticket=*/1, /*index=*/0);
  other.Add(SlotKind::kEnd, 50, 1, 1);
  const model::TraceShard shard = Decode({&first, &second, &other});
  const model::EventColumns& events = shard.block;
  EXPECT_EQ(events.end_ns, (Column<TimeNs>{40, 50}));
  EXPECT_EQ(events.flags[0], 0);
  EXPECT_EQ(events.flags[1], model::kEventAsync);
  EXPECT_FALSE(shard.ledger.AnythingLost());
}

TEST(DecodeTest, EndsFromAForkedChildAreNotTheParents) {
  TestChunk parent(0, 1), child(1, 2);
  parent.Add(SlotKind::kRange, 10, 100, 1);
  parent.Add(SlotKind::kRange, 11, 0, 2);
  child.Add(SlotKind::kEnd, 50, 1, 0);
  child.Add(SlotKind::kEnd, 60, 1, 1);
  const model::TraceShard shard =
      Decode({&parent, &child}, 0, /*second_pid=*/2);
  EXPECT_EQ(shard.block.end_ns, (Column<TimeNs>{100, 0}));
  EXPECT_EQ(shard.block.flags, (Column<uint8_t>{0, 0}));
  EXPECT_FALSE(shard.ledger.AnythingLost());
}

TEST(DecodeTest, EndsWithoutBeginAreCountedUnlessOfAnEarlierSession) {
  TestChunk chunk(0, 100);
  chunk.Add(SlotKind::kEnd, 40, 77, 0);
  EXPECT_EQ(Decode({&chunk}).ledger.Get(model::Loss::kEndsWithoutBegin), 1u);
  EXPECT_FALSE(Decode({&chunk}, /*first_ticket=*/80).ledger.AnythingLost());
}

TEST(DecodeTest, PayloadsGiveNamesAndArguments) {
  TestChunk chunk(0, 1);
  Slot& head = chunk.Add(SlotKind::kRange, 10, 20, record::kNameInPayload);
  chunk.AddPayload(PayloadKind::kName, 0, "dynamic, and longer than a slot is",
                   head);
  Slot& extra = chunk.Add(SlotKind::kExtra, 12, /*ticket=*/1, /*index=*/0);
  const int64_t value = -5;
  chunk.AddPayload(PayloadKind::kInt, 2,
                   {reinterpret_cast<const char*>(&value), 8}, extra);
  Slot& text = chunk.Add(SlotKind::kExtra, 13, 1, 0);
  chunk.AddPayload(PayloadKind::kString, 3, "first ", text);
  Slot& more = chunk.Add(SlotKind::kExtra, 14, 1, 0);
  chunk.AddPayload(PayloadKind::kString, record::kNameLost, "second", more,
                   /*continues=*/true);
  const model::TraceShard shard = Decode({&chunk});
  EXPECT_EQ(shard.strings.Get(shard.block.name[0]),
            "dynamic, and longer than a slot is");
  ASSERT_EQ(shard.args.size(), 2u);
  EXPECT_EQ(shard.strings.Get(shard.args[0].key), "two");
  EXPECT_EQ(shard.args[0].int_value(), -5);
  EXPECT_EQ(shard.strings.Get(shard.args[1].string_value()), "first second");
}

TEST(DecodeTest, CountersKeepTheirValues) {
  TestChunk chunk(0, 1);
  const double value = 2.5;
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  chunk.Add(SlotKind::kCounter, 10, bits, 1);
  const model::TraceShard shard = Decode({&chunk});
  ASSERT_EQ(shard.counters.size(), 1u);
  EXPECT_EQ(shard.counters[0].value, 2.5);
}

TEST(DecodeTest, StreamsOutOfTheTableAreCounted) {
  TestChunk no_track(2, 1), no_stream(77, 2);
  no_track.Add(SlotKind::kRange, 10, 20, 1);
  no_stream.Add(SlotKind::kRange, 10, 20, 1);
  const model::TraceShard shard = Decode({&no_track, &no_stream});
  EXPECT_EQ(shard.block.size(), 0u);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kRecordsCorrupt), 2u);
}

// Chunks of random bytes, as a broken target may leave them: the decoder does
// not crash, and all columns have equal lengths.
TEST(DecodeTest, AnyBytesDecode) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<TestChunk> chunks;
    for (uint64_t ticket = 1; ticket <= 3; ++ticket) {
      TestChunk chunk(static_cast<uint32_t>(random() % 4), random() % 4);
      for (Slot& slot : chunk.slots()) {
        slot.begin.store(random() % 16 == 0 ? random() : random() % 1000 + 1);
        slot.end.store(random() % 2 == 0 ? random() % 5 : random());
        slot.name = static_cast<uint32_t>(random() % 2 == 0 ? random() % 2100
                                                            : random());
        slot.kind_scope_depth = static_cast<uint32_t>(random());
        slot.extra_slots =
            static_cast<uint32_t>(random() % 50 == 0 ? random() : random() % 4);
      }
      chunk.set_used(record::UsedSlots(chunk.slots()));
      chunks.push_back(std::move(chunk));
    }
    const model::TraceShard shard =
        Decode({&chunks[0], &chunks[1], &chunks[2]});
    const model::EventBlock& events = shard.block;
    EXPECT_EQ(events.size(), events.name.size());
    EXPECT_EQ(events.size(), events.depth.size());
    EXPECT_EQ(events.size(),
              events.parts.empty() ? 0 : events.parts.back().end);
    for (const model::NameId name : events.name) {
      ASSERT_LT(Index(name), shard.strings.size());
    }
  }
}

TEST(DecodeTest, HeapRecordsSayBytesSourceAndFree) {
  TestChunk chunk(0, 1);
  Slot& large = chunk.Add(SlotKind::kAllocation, 10, 0x1000, 7);
  large.flags = 2;  // the high half of the bytes
  chunk.Add(SlotKind::kFree, 20, 0x1000, 0);
  chunk.Add(SlotKind::kAllocation, 30, 0x2000, 4096).kind_scope_depth =
      PackKind(SlotKind::kAllocation,
               static_cast<uint8_t>(record::HeapSource::kMapped), 0);
  chunk.Add(SlotKind::kFree, 40, 0x2000, 4096).kind_scope_depth = PackKind(
      SlotKind::kFree, static_cast<uint8_t>(record::HeapSource::kMapped), 0);
  const model::TraceShard shard = Decode({&chunk});
  ASSERT_EQ(shard.memory.size(), 4u);
  EXPECT_EQ(shard.memory[0].source, model::MemorySource::kHeap);
  EXPECT_EQ(shard.memory[0].bytes, (int64_t{2} << 32) + 7);
  EXPECT_EQ(shard.memory[0].address, 0x1000u);
  EXPECT_EQ(shard.memory[1].event, model::MemoryEvent::kFreeOfUnknown);
  EXPECT_EQ(shard.memory[2].source, model::MemorySource::kMapped);
  EXPECT_EQ(shard.memory[2].bytes, 4096);
  EXPECT_EQ(shard.memory[3].bytes, -4096);
}

TEST(DecodeTest, AllocationThatFailedIsOneOfTheHeap) {
  TestChunk chunk(0, 1);
  chunk.Add(SlotKind::kAllocation, 10, 0, 7).flags = 2;
  chunk.Add(SlotKind::kAllocation, 20, 0, 256).flags = 0x80000000u;
  // A mapping may be there.
  chunk.Add(SlotKind::kAllocation, 30, 0, 4096).kind_scope_depth =
      PackKind(SlotKind::kAllocation,
               static_cast<uint8_t>(record::HeapSource::kMapped), 0);
  const model::TraceShard shard = Decode({&chunk});
  ASSERT_EQ(shard.memory.size(), 3u);
  EXPECT_EQ(shard.memory[0].event, model::MemoryEvent::kOutOfMemory);
  EXPECT_EQ(shard.memory[0].source, model::MemorySource::kHeap);
  EXPECT_EQ(shard.memory[0].bytes, (int64_t{2} << 32) + 7);
  EXPECT_EQ(shard.memory[1].event, model::MemoryEvent::kOutOfMemory);
  EXPECT_GT(shard.memory[1].bytes, int64_t{1} << 60);
  EXPECT_EQ(shard.memory[2].event, model::MemoryEvent::kAllocation);
}

TEST(DecodeTest, TooManyMemoryRecordsLoseTheLatestAndSaySo) {
  TestChunk first(0, 1), second(0, 2);
  for (uint64_t i = 1; i <= 3; ++i) {
    first.Add(SlotKind::kAllocation, i, 0x1000 + i, 8);
    second.Add(SlotKind::kAllocation, 10 + i, 0x2000 + i, 8);
  }
  second.Add(SlotKind::kRange, 20, 21, 0);
  const model::TraceShard shard =
      Decode({&first, &second}, 0, 0, /*memory_limit=*/5);
  EXPECT_EQ(shard.memory.size(), 3u);
  EXPECT_EQ(shard.memory.back().address, 0x1003u);
  EXPECT_EQ(shard.block.size(), 1u);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kMemoryRecordsLeftOut), 3u);
}

TEST(DecodeTest, TheLatestChunkIsTheOneOfTheLargestTicket) {
  TestChunk late(0, 9), early(1, 5);
  for (uint64_t i = 1; i <= 2; ++i) {
    late.Add(SlotKind::kAllocation, i, 0x1000 + i, 8);
    early.Add(SlotKind::kAllocation, i, 0x2000 + i, 8);
  }
  const model::TraceShard some = Decode({&late, &early}, 0, 1, 3);
  ASSERT_EQ(some.memory.size(), 2u);
  EXPECT_EQ(some.memory[0].address, 0x2001u);
  EXPECT_EQ(some.memory[0].track, 1u);
  EXPECT_EQ(some.ledger.Get(model::Loss::kMemoryRecordsLeftOut), 2u);
  const model::TraceShard all = Decode({&late, &early}, 0, 1, 4);
  EXPECT_EQ(all.memory.size(), 4u);
  EXPECT_FALSE(all.ledger.AnythingLost());
}

TEST(DecodeTest, EndsAndPayloadsFindTheirPartOfAChunk) {
  TestChunk chunk(0, 1), other(0, 2);
  for (uint64_t i = 0; i < 4; ++i) {
    chunk.Add(SlotKind::kRange, 10 + i, i == 2 ? 15 : 0, 1);
  }
  const std::span<const Slot> slots = chunk.view().slots;
  const auto add = [&](SlotKind kind, uint64_t time, uint32_t index) -> Slot& {
    return other.Add(kind, time, /*ticket=*/1, index);
  };
  for (uint32_t index = 0; index < 5; ++index) {
    add(SlotKind::kEnd, 40 + index, index);
  }
  add(SlotKind::kEnd, 60, 0);  // the second one
  const int64_t value = 5;
  for (const uint32_t index : {3, 4}) {  // of them, 4 is none
    other.AddPayload(PayloadKind::kInt, 2, BytesOf(value),
                     add(SlotKind::kExtra, 50, index));
  }
  model::TraceShard shard;
  shard.tracks.resize(2);
  std::atomic<int> released = 0;
  DecodeInput input = Input(
      {other.view(),
       {.stream = 0, .ticket = 1, .first_index = 2, .slots = slots.subspan(2)},
       {.stream = 0, .ticket = 1, .slots = slots.first(2)}});
  input.release = [&](const ChunkView&) { ++released; };
  const std::vector<DecodedChunk> decoded = DecodeChunks(input, shard);
  EXPECT_EQ(shard.block.end_ns, (Column<TimeNs>{40, 41, 15, 43}));
  EXPECT_EQ(shard.block.flags, (Column<uint8_t>{0, 0, 0, 0}));
  ASSERT_EQ(shard.args.size(), 1u);
  constexpr model::DetailIndex kNone = model::kNoDetail;
  EXPECT_EQ(shard.block.detail,
            (Column<model::DetailIndex>{kNone, kNone, kNone, 0}));
  EXPECT_EQ(released, 7) << "each is counted, and then decoded; one has more";
  ASSERT_EQ(decoded.size(), 3u);
  EXPECT_EQ(decoded[1].view.first_index, 2u);
  EXPECT_EQ(decoded[1].first_row, 2u);
  EXPECT_EQ(decoded[1].event_count, 2u);
  EXPECT_EQ(decoded[2].first_row, 4u);
  EXPECT_EQ(decoded[2].event_count, 0u);
  for (const DecodedChunk& part : decoded) {
    EXPECT_TRUE(part.open.empty());
    EXPECT_TRUE(part.for_others.empty());
    EXPECT_EQ(part.replaced_ns, 0);
  }
}

TEST(DecodeTest, StacksOfAllocationsAreReadBeforeTheirChunkIsReleased) {
  TestChunk with(0, 1), without(0, 2);
  with.AddStack({5}, with.Add(SlotKind::kAllocation, 10, 0x1000, 8));
  without.Add(SlotKind::kAllocation, 20, 0x2000, 8);
  model::TraceShard shard;
  shard.tracks.resize(2);
  std::atomic<int> released = 0;
  DecodeInput input = Input({with.view(), without.view()});
  int released_before = 0;
  input.stack = [&](int64_t, std::span<const uint64_t>) {
    released_before = released;
    return model::StackId{3};
  };
  input.release = [&](const ChunkView&) { ++released; };
  DecodeChunks(input, shard);
  ASSERT_EQ(shard.memory.size(), 2u);
  EXPECT_EQ(shard.memory[0].stack, model::StackId{3});
  EXPECT_EQ(released_before, 4) << "each is counted, and then decoded";
  EXPECT_EQ(released, 5);
}

TEST(DecodeTest, RecordsForOtherCallsAndOpenRangesAreListed) {
  TestChunk chunk(0, 8);
  chunk.Add(SlotKind::kEnd, 10, /*ticket=*/5, 0);
  chunk.Add(SlotKind::kEnd, 11, 6, 0);  // nobody has it
  chunk.Add(SlotKind::kRange, 12, 0, 1);
  chunk.Add(SlotKind::kExtra, 13, 5, 0);
  chunk.Add(SlotKind::kExtra, 13, 6, 0);
  chunk.Add(SlotKind::kRange, 14, 15, 1);
  chunk.Add(SlotKind::kRange, 16, 0, 1);
  model::TraceShard shard;
  shard.tracks.resize(2);
  DecodeInput input = Input({chunk.view()});
  input.is_elsewhere = [](uint64_t ticket) { return ticket == 5; };
  const std::vector<DecodedChunk> decoded = DecodeChunks(input, shard);
  ASSERT_EQ(decoded.size(), 1u);
  EXPECT_EQ(decoded[0].for_others, (std::vector<uint32_t>{0, 3}));
  ASSERT_EQ(decoded[0].open.size(), 2u);
  EXPECT_EQ(decoded[0].open[0].index, 2u);
  EXPECT_EQ(decoded[0].open[0].row, 0u);
  EXPECT_EQ(decoded[0].open[1].index, 6u);
  EXPECT_EQ(decoded[0].open[1].row, 2u);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kEndsWithoutBegin), 1u);
}

}  // namespace
}  // namespace kymo::stream
