#include "profiler/record/arena/chunk_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/record/arena/test_arena.h"

namespace kymo::record {
namespace {

TEST(ChunkReaderTest, ReadsOwnedChunksOnceAndContinues) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 2));
  uint64_t ticket = 0;
  const uint32_t chunk = arena.AcquireChunk(0, 0, &ticket);
  Slot* const slots = arena.slots(chunk);
  ChunkReader reader(arena);
  std::vector<std::pair<uint32_t, size_t>> seen;
  auto visit = [&](const ChunkView& view) {
    seen.emplace_back(view.first_index, view.slots.size());
  };
  reader.ReadOwned(visit);
  EXPECT_TRUE(seen.empty());
  WriteSlot(slots[0], 1);
  WriteSlot(slots[1], 1, /*extra_slots=*/2);
  reader.ReadOwned(visit);
  reader.ReadOwned(visit);
  WriteSlot(slots[4], 1);
  arena.SealChunk(chunk);
  reader.DrainSealed(visit);
  EXPECT_EQ(seen, (std::vector<std::pair<uint32_t, size_t>>{{0, 4}, {4, 1}}));
  arena.Unmap();
}

TEST(ChunkReaderTest, ReadsAllThoughAThreadSealsItsChunkMeanwhile) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 2));
  uint64_t ticket = 0;
  const uint32_t owned = arena.AcquireChunk(0, 0, &ticket);
  const uint64_t owned_ticket = ticket;
  const uint32_t full = arena.AcquireChunk(0, 0, &ticket);
  WriteSlot(arena.slots(full)[0], 1);
  WriteSlot(arena.slots(owned)[0], 1);
  arena.SealChunk(full);
  int visited = 0;
  ChunkReader(arena).ReadAll([&](const ChunkView& view) {
    // The reader has passed this chunk by then, when it was not sealed yet.
    if (view.ticket != owned_ticket) arena.SealChunk(owned);
    ++visited;
  });
  EXPECT_EQ(visited, 2);
  arena.Unmap();
}

TEST(ChunkReaderTest, RecordThatReachesOverTheChunkIsSkipped) {
  std::vector<Slot> slots(4);
  WriteSlot(slots[0], 1);
  WriteSlot(slots[1], 1, /*extra_slots=*/3);
  EXPECT_EQ(UsedSlots(slots), 2);
  WriteSlot(slots[1], 1, /*extra_slots=*/0xffffffff);
  EXPECT_EQ(UsedSlots(slots), 2);
  // A slot that nobody will write any more, and a good one behind it.
  WriteSlot(slots[3], 1);
  EXPECT_EQ(UsedSlots(slots), 2);
  EXPECT_EQ(WrittenSlots(slots), 4);
  int good = 0, bad = 0;
  ForEachRecord(
      {.slots = slots},
      [&](const Slot&, std::span<const Slot>, uint32_t) { ++good; },
      [&](const Slot&) { ++bad; });
  EXPECT_EQ(good, 2);
  EXPECT_EQ(bad, 2);
  WriteSlot(slots[1], 1, /*extra_slots=*/2);
  EXPECT_EQ(UsedSlots(slots), 4);
  int records = 0;
  ForEachRecord({.slots = slots}, [&](const Slot&, std::span<const Slot>,
                                      uint32_t) { ++records; });
  EXPECT_EQ(records, 2);
}

class ChunkReaderSessionTest : public ChunkPoolTest {
 protected:
  // Stream, ticket, first index and slots of each chunk.
  using Seen = std::vector<std::tuple<uint32_t, uint64_t, uint32_t, size_t>>;

  ChunkReader::Visit Into(Seen& seen) {
    return [&seen](const ChunkView& view) {
      seen.emplace_back(view.stream, view.ticket, view.first_index,
                        view.slots.size());
    };
  }
  // A chunk with so many records of one slot.
  uint32_t Chunk(uint32_t stream, SessionId session, uint32_t records) {
    const uint32_t chunk = Acquire(stream, session);
    for (uint32_t i = 0; i < records; ++i) {
      WriteSlot(arena_.slots(chunk)[i], 1);
    }
    return chunk;
  }

  const uint32_t mine_ = arena_.AddStream(10, 1);
  const uint32_t others_ = arena_.AddStream(11, 1);
  ChunkReader reader_{arena_};
};

TEST_F(ChunkReaderSessionTest, ASessionReadsItsOwnChunks) {
  Chunk(mine_, 3, 2);
  const uint32_t sealed = Chunk(mine_, 3, 5);
  // A hole in a sealed chunk hides nothing.
  arena_.slots(sealed)[1].begin.store(0);
  arena_.SealChunk(sealed);
  Chunk(mine_, 4, 1);
  Chunk(others_, 3, 1);
  Chunk(mine_, 3, 0);
  const uint32_t being_taken = Chunk(mine_, 3, 1);
  arena_.word(being_taken).ticket.store(0);
  const uint32_t freed = Chunk(mine_, 3, 1);
  arena_.FreeChunk(freed);
  Seen seen;
  reader_.ReadSession({.session = 3, .pid = 10}, Into(seen));
  EXPECT_EQ(seen, (Seen{{mine_, 1, 0, 2}, {mine_, 2, 0, 5}}));
  // Reading marks nothing.
  reader_.ReadSession({.session = 3, .pid = 10}, Into(seen));
  EXPECT_EQ(seen.size(), 4u);
  // Without a collector, sealed chunks are free once they were read, and owned
  // ones have been read.
  reader_.Release({.session = 3, .pid = 10}, /*collector_records=*/false);
  EXPECT_EQ(StateOf(0), ChunkState::kOwned);
  EXPECT_EQ(arena_.word(0).read_slots.load(), 2u);
  EXPECT_EQ(StateOf(sealed), ChunkState::kFree);
  EXPECT_EQ(StateOf(2), ChunkState::kOwned);
  EXPECT_EQ(arena_.word(2).read_slots.load(), 0u);
  EXPECT_EQ(arena_.word(2).session.load(), 4u);
  EXPECT_EQ(arena_.word(3).session.load(), 3u);
}

TEST_F(ChunkReaderSessionTest, AChunkIsOfItsViewUntilARecorderTakesIt) {
  arena_.SetLimits(kChunkBytes, FullPolicy::kOverwrite);
  const uint32_t chunk = Chunk(mine_, 3, 2);
  std::vector<ChunkView> views;
  reader_.ReadSession({.session = 3, .pid = 10},
                      [&](const ChunkView& v) { views.push_back(v); });
  ASSERT_EQ(views.size(), 1u);
  EXPECT_TRUE(IsStill(arena_, views[0]));
  arena_.SealChunk(chunk);
  EXPECT_TRUE(IsStill(arena_, views[0]));
  EXPECT_EQ(Chunk(mine_, 4, 1), chunk);
  EXPECT_FALSE(IsStill(arena_, views[0]));
  arena_.word(chunk).ticket.store(views[0].ticket);
  EXPECT_TRUE(IsStill(arena_, views[0]));
  views[0].stream = others_;
  EXPECT_FALSE(IsStill(arena_, views[0]));
}

TEST_F(ChunkReaderSessionTest, NobodyElseGetsATakenChunkBeforeItsRelease) {
  arena_.SetLimits(3 * kChunkBytes, FullPolicy::kOverwrite);
  const uint32_t sealed = Chunk(mine_, 3, 5);
  const uint32_t owned = Chunk(mine_, 3, 2);
  const uint32_t another = Chunk(mine_, 4, 1);
  arena_.SealChunk(sealed);
  arena_.SealChunk(another);
  Seen taken, seen;
  reader_.TakeSession({.session = 3, .pid = 10}, Into(taken), Into(seen));
  EXPECT_EQ(taken, (Seen{{mine_, 1, 0, 5}}));
  EXPECT_EQ(seen, (Seen{{mine_, 2, 0, 2}}));
  // The older one would be overwritten first.
  EXPECT_EQ(Chunk(mine_, 4, 1), another);
  EXPECT_EQ(Acquire(mine_, 4), kNoChunk);
  EXPECT_EQ(arena_.slots(sealed)[4].begin.load(), 1u);
  reader_.Release({.session = 3, .pid = 10}, /*collector_records=*/false);
  EXPECT_EQ(StateOf(sealed), ChunkState::kFree);
  EXPECT_EQ(arena_.word(owned).read_slots.load(), 2u);
  EXPECT_EQ(Acquire(mine_, 4), sealed);
  // It is another session's now.
  reader_.Release({.session = 3, .pid = 10}, /*collector_records=*/false);
  EXPECT_EQ(StateOf(sealed), ChunkState::kOwned);
}

TEST_F(ChunkReaderSessionTest, AReaderThatEndsFreesWhatItTook) {
  const uint32_t sealed = Chunk(mine_, 3, 5);
  arena_.SealChunk(sealed);
  Seen seen;
  {
    ChunkReader reader(arena_);
    reader.TakeSession({.session = 3, .pid = 10}, Into(seen), Into(seen));
    EXPECT_EQ(StateOf(sealed), ChunkState::kReading);
  }
  EXPECT_EQ(StateOf(sealed), ChunkState::kFree);
}

TEST_F(ChunkReaderSessionTest,
       ASessionOfAllThreadsReadsEveryChunkOfItsProcess) {
  Chunk(mine_, 3, 1);
  const uint32_t sealed = Chunk(mine_, 3, 2);
  arena_.SealChunk(sealed);
  const uint32_t earlier = Chunk(mine_, 2, 3);
  arena_.SealChunk(earlier);
  Chunk(mine_, kNoSession, 4);
  Chunk(others_, 3, 5);
  Seen taken, shared;
  reader_.TakeSession({.session = 3, .pid = 10, .all_threads = true},
                      Into(taken), Into(shared));
  EXPECT_EQ(taken, (Seen{{mine_, 2, 0, 2}}));
  EXPECT_EQ(shared,
            (Seen{{mine_, 1, 0, 1}, {mine_, 3, 0, 3}, {mine_, 4, 0, 4}}));
  EXPECT_EQ(StateOf(earlier), ChunkState::kSealed) << "another one frees it";
}

TEST_F(ChunkReaderSessionTest, AChunkWithALaterSessionsRecordsIsNotFreed) {
  const SessionChunks chunks = {.session = 3, .pid = 10, .end_ticks = 100};
  const auto sealed_chunk = [this](uint64_t begin) {
    const uint32_t chunk = Chunk(mine_, 3, 2);
    arena_.slots(chunk)[1].begin.store(begin);
    arena_.SealChunk(chunk);
    return chunk;
  };
  // Nobody wants late records before another session has started.
  arena_.header().next_session.store(3);
  const uint32_t late = sealed_chunk(100);
  reader_.Release(chunks, /*collector_records=*/false);
  EXPECT_EQ(StateOf(late), ChunkState::kFree);

  arena_.header().next_session.store(4);
  const uint32_t before = sealed_chunk(99);
  const uint32_t later = sealed_chunk(100);
  Seen taken, shared;
  reader_.TakeSession(chunks, Into(taken), Into(shared));
  EXPECT_EQ(taken.size(), 1u);
  EXPECT_EQ(shared.size(), 1u);
  EXPECT_EQ(StateOf(before), ChunkState::kReading);
  EXPECT_EQ(StateOf(later), ChunkState::kSealed);
  reader_.Release(chunks, /*collector_records=*/false);
  EXPECT_EQ(StateOf(before), ChunkState::kFree);
  EXPECT_EQ(StateOf(later), ChunkState::kSealed);
}

// The later session may read at the same time.
TEST_F(ChunkReaderSessionTest, AChunkWithALaterSessionsRecordsIsNeverTaken) {
  arena_.header().next_session.store(4);
  const uint32_t later = Chunk(mine_, 3, 2);
  arena_.slots(later)[1].begin.store(100);
  arena_.SealChunk(later);
  std::atomic<bool> has_ended = false;
  std::thread earlier([&] {
    const SessionChunks chunks = {.session = 3, .pid = 10, .end_ticks = 100};
    for (int i = 0; i < 1'000; ++i) {
      Seen seen;
      reader_.TakeSession(chunks, Into(seen), Into(seen));
      reader_.Release(chunks, /*collector_records=*/false);
    }
    has_ended = true;
  });
  int taken = 0;
  while (!has_ended) taken += StateOf(later) != ChunkState::kSealed;
  earlier.join();
  EXPECT_EQ(taken, 0);
}

// Another session takes the chunk while this one releases it.
TEST_F(ChunkReaderSessionTest, OnlyTheSessionsOwnChunksAreReleased) {
  arena_.SetLimits(kChunkBytes, FullPolicy::kOverwrite);
  const uint32_t chunk = Chunk(mine_, 3, 2);
  arena_.SealChunk(chunk);
  reader_.Release({.session = 3, .pid = 10}, /*collector_records=*/false,
                  [&](size_t count, const std::function<void(size_t)>& call) {
                    EXPECT_EQ(count, 1u);
                    EXPECT_EQ(Chunk(mine_, 4, 1), chunk);
                    call(0);
                    EXPECT_EQ(arena_.word(chunk).read_slots.load(), 0u);
                    arena_.SealChunk(chunk);
                    call(0);
                  });
  EXPECT_EQ(StateOf(chunk), ChunkState::kSealed);
  EXPECT_EQ(arena_.word(chunk).session.load(), 4u);
}

TEST_F(ChunkReaderSessionTest, ACollectorWaitsForTheSession) {
  const uint32_t sealed = Chunk(mine_, 3, 2);
  arena_.SealChunk(sealed);
  const uint32_t plain = Chunk(others_, kNoSession, 1);
  arena_.SealChunk(plain);
  Seen seen;
  EXPECT_EQ(reader_.DrainSealed(Into(seen)), 1u);
  EXPECT_EQ(seen, (Seen{{others_, 2, 0, 1}}));
  EXPECT_EQ(StateOf(plain), ChunkState::kFree);
  // For a collector the session only hands its chunks on.
  reader_.Release({.session = 3, .pid = 10}, /*collector_records=*/true);
  EXPECT_EQ(StateOf(sealed), ChunkState::kSealed);
  arena_.Retag(10, 3, kNoSession);
  EXPECT_EQ(reader_.DrainSealed(Into(seen)), 1u);
  EXPECT_EQ(seen.back(), (Seen::value_type{mine_, 1, 0, 2}));
  EXPECT_EQ(reader_.DrainSealed(Into(seen)), 0u);
  // At the end it reads what sessions have not read.
  arena_.SealChunk(Chunk(mine_, 3, 4));
  Chunk(mine_, 3, 1);
  seen.clear();
  reader_.ReadAll(Into(seen));
  EXPECT_EQ(seen, (Seen{{mine_, 3, 0, 4}, {mine_, 4, 0, 1}}));
  // Empty chunks are freed without a visit.
  arena_.SealChunk(Chunk(mine_, kNoSession, 0));
  EXPECT_EQ(reader_.DrainSealed(Into(seen)), 1u);
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(ChunkReaderSessionTest, AReaderGoesOnBehindWhatItHasRead) {
  const uint32_t chunk = Chunk(mine_, kNoSession, 3);
  Seen seen;
  // While the chunk is being taken it has no ticket.
  arena_.word(chunk).ticket.store(0);
  reader_.ReadOwned(Into(seen));
  EXPECT_EQ(seen.size(), 0u);
  arena_.word(chunk).ticket.store(5);
  reader_.ReadOwned(Into(seen));
  WriteSlot(arena_.slots(chunk)[3], 1, /*extra_slots=*/1);
  reader_.ReadOwned(Into(seen));
  EXPECT_EQ(seen, (Seen{{mine_, 5, 0, 3}, {mine_, 5, 3, 2}}));
  EXPECT_EQ(arena_.word(chunk).read_slots.load(), 5u);
  // A process wrote nonsense.
  arena_.word(chunk).read_slots.store(kSlotsPerChunk + 1);
  reader_.ReadOwned(Into(seen));
  arena_.SealChunk(chunk);
  EXPECT_EQ(reader_.DrainSealed(Into(seen)), 1u);
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(ChunkReaderSessionTest, ACopyHasEveryPartOfItsSlots) {
  Slot* const slots = arena_.slots(Chunk(mine_, kNoSession, 2));
  slots[0].end.store(2);
  slots[0].name = 3;
  slots[0].kind_scope_depth = 4;
  slots[0].extra_slots = 5;
  slots[0].flags = 6;
  const auto copy = CopySlots({slots, 2});
  EXPECT_EQ(copy[0].begin.load(), 1u);
  EXPECT_EQ(copy[0].end.load(), 2u);
  EXPECT_EQ(copy[0].name, 3u);
  EXPECT_EQ(copy[0].kind_scope_depth, 4u);
  EXPECT_EQ(copy[0].extra_slots, 5u);
  EXPECT_EQ(copy[0].flags, 6u);
  EXPECT_EQ(copy[1].begin.load(), 1u);
}

// A slot of which only one part was written ends the chunk behind it.
TEST_F(ChunkReaderSessionTest, WrittenSlotsEndBehindTheLastThatIsNotZero) {
  const auto written_with = [](auto write) {
    std::vector<Slot> slots(6);
    write(slots[3]);
    return WrittenSlots(slots);
  };
  EXPECT_EQ(written_with([](Slot&) {}), 0u);
  EXPECT_EQ(written_with([](Slot& slot) { slot.begin.store(1); }), 4u);
  EXPECT_EQ(written_with([](Slot& slot) { slot.end.store(1); }), 4u);
  EXPECT_EQ(written_with([](Slot& slot) { slot.name = 1; }), 4u);
  EXPECT_EQ(written_with([](Slot& slot) { slot.kind_scope_depth = 1; }), 4u);
  EXPECT_EQ(written_with([](Slot& slot) { slot.extra_slots = 1; }), 4u);
  // The payload of the last record ends in zeros.
  EXPECT_EQ(written_with([](Slot& slot) { WriteSlot(slot, 1, 2); }), 6u);
}

}  // namespace
}  // namespace kymo::record
