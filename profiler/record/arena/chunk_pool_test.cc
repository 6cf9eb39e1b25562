#include "profiler/record/arena/chunk_pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <initializer_list>
#include <vector>

#include "profiler/record/arena/test_arena.h"

namespace kymo::record {
namespace {

TEST_F(ChunkPoolTest, ChunksAreTakenFromTheFrontAndHaveNewTickets) {
  EXPECT_EQ(arena_.chunk_count(), kChunks);
  EXPECT_EQ(FreeChunks(), kChunks);
  EXPECT_EQ(arena_.high_water(), 0u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Acquire(5, 7), i);
    EXPECT_EQ(ticket_, i + 1);
    EXPECT_EQ(StateOf(i), ChunkState::kOwned);
    EXPECT_EQ(OwnerStream(arena_.word(i).owner.load()), 5u);
    EXPECT_EQ(arena_.word(i).ticket.load(), i + 1);
    EXPECT_EQ(arena_.word(i).session.load(), 7u);
    EXPECT_EQ(arena_.word(i).read_slots.load(), 0u);
    EXPECT_EQ(arena_.high_water(), i + 1);
    EXPECT_EQ(FreeChunks(), kChunks - 1 - i);
  }
  for (const uint32_t chunk : {2, 1}) {
    arena_.SealChunk(chunk);
    EXPECT_EQ(StateOf(chunk), ChunkState::kSealed);
    EXPECT_EQ(OwnerStream(arena_.word(chunk).owner.load()), 5u);
    arena_.slots(chunk)[kSlotsPerChunk - 1].flags = 9;
    arena_.FreeChunk(chunk);
    EXPECT_EQ(arena_.word(chunk).owner.load(), 0u);
    EXPECT_EQ(arena_.word(chunk).ticket.load(), 0u);
    EXPECT_EQ(arena_.slots(chunk)[kSlotsPerChunk - 1].flags, 0u);
  }
  EXPECT_EQ(FreeChunks(), kChunks - 2);
  // The low ones first, which are warm.
  EXPECT_EQ(Acquire(), 1u);
  EXPECT_EQ(ticket_, 5u);
  EXPECT_EQ(Acquire(), 2u);
  EXPECT_EQ(Acquire(), 4u);
  EXPECT_EQ(arena_.high_water(), 5u);
  // The search goes on behind the last chunk.
  arena_.header().free_hint.store(kChunks - 1);
  EXPECT_EQ(Acquire(), kChunks - 1);
  EXPECT_EQ(Acquire(), 5u);
  EXPECT_EQ(Acquire(), 6u);
  EXPECT_EQ(Acquire(), kNoChunk);
}

TEST_F(ChunkPoolTest, ALimitIsThatManyWholeChunks) {
  const auto taken_with = [this](uint64_t bytes) {
    arena_.SetLimits(bytes, FullPolicy::kStop);
    uint32_t taken = 0;
    while (Acquire() != kNoChunk) ++taken;
    EXPECT_EQ(FreeChunks(), 0);
    for (uint32_t i = 0; i < arena_.high_water(); ++i) {
      if (StateOf(i) == ChunkState::kOwned) arena_.SealChunk(i);
    }
    arena_.DiscardSealed();
    return taken;
  };
  EXPECT_EQ(taken_with(0), 0u);
  EXPECT_EQ(taken_with(kChunkBytes - 1), 0u);
  EXPECT_EQ(taken_with(3 * kChunkBytes), 3u);
  EXPECT_EQ(taken_with(4 * kChunkBytes - 1), 3u);
  EXPECT_EQ(taken_with(kChunks * kChunkBytes), kChunks);
  EXPECT_EQ(taken_with((kChunks + 1) * kChunkBytes), kChunks);
  EXPECT_EQ(taken_with(2 * kChunkBytes), 2u);
  EXPECT_EQ(arena_.policy(), FullPolicy::kStop);
  arena_.SetLimits(0, FullPolicy::kOverwrite);
  EXPECT_EQ(arena_.policy(), FullPolicy::kOverwrite);
}

TEST_F(ChunkPoolTest, FreeChunksCanBeCountedAgain) {
  Acquire();
  const uint32_t sealed = Acquire();
  Acquire();
  arena_.SealChunk(sealed);
  const auto recounted = [this] {
    arena_.header().free_chunks.store(-100);
    arena_.RecountFree();
    return FreeChunks();
  };
  EXPECT_EQ(recounted(), kChunks - 3);
  arena_.FreeChunk(sealed);
  EXPECT_EQ(recounted(), kChunks - 2);
  arena_.SetLimits(2 * kChunkBytes, FullPolicy::kStop);
  EXPECT_EQ(FreeChunks(), 1);
  // A process wrote nonsense.
  arena_.header().high_water.store(1000);
  EXPECT_EQ(arena_.high_water(), kChunks);
  arena_.header().chunk_limit.store(1000);
  EXPECT_EQ(recounted(), kChunks - 2);
}

TEST_F(ChunkPoolTest, SealedChunksCanBeDiscarded) {
  for (int i = 0; i < 3; ++i) Acquire();
  arena_.SealChunk(1);
  WriteSlot(arena_.slots(1)[0], 5);
  arena_.DiscardSealed();
  EXPECT_EQ(StateOf(0), ChunkState::kOwned);
  EXPECT_EQ(StateOf(1), ChunkState::kFree);
  EXPECT_EQ(StateOf(2), ChunkState::kOwned);
  EXPECT_EQ(arena_.slots(1)[0].begin.load(), 0u);
}

TEST_F(ChunkPoolTest, WhatWasReadIsNotCountedAsOverwritten) {
  arena_.SetLimits(kChunkBytes, FullPolicy::kOverwrite);
  const uint32_t stream = arena_.AddStream(1, 1);
  const uint32_t chunk = Acquire(stream);
  for (int i = 0; i < 5; ++i) WriteSlot(arena_.slots(chunk)[i], 1);
  arena_.word(chunk).read_slots.store(3);
  arena_.SealChunk(chunk);
  EXPECT_EQ(Acquire(stream, 9), chunk);
  EXPECT_EQ(arena_.stream(stream).overwritten.load(), 2u);
  EXPECT_EQ(arena_.word(chunk).read_slots.load(), 0u);
  EXPECT_EQ(arena_.word(chunk).session.load(), 9u);
  EXPECT_EQ(ticket_, 2u);
  // Chunks of a stream that cannot be are overwritten, too.
  arena_.word(chunk).owner.store(
      PackOwner(ChunkState::kSealed, arena_.stream_capacity()));
  EXPECT_EQ(Acquire(stream), chunk);
  EXPECT_EQ(arena_.stream(stream).overwritten.load(), 2u);
}

TEST_F(ChunkPoolTest, ASessionsChunksAreThoseOfItsProcess) {
  const uint32_t mine = arena_.AddStream(10, 1);
  const uint32_t others = arena_.AddStream(11, 1);
  const uint32_t owned = Acquire(mine, 3);
  const uint32_t sealed = Acquire(mine, 3);
  const uint32_t other_session = Acquire(mine, 4);
  const uint32_t other_process = Acquire(others, 3);
  const uint32_t no_process = Acquire(99, 3);
  const uint32_t freed = Acquire(mine, 3);
  arena_.SealChunk(sealed);
  arena_.SealChunk(freed);
  arena_.FreeChunk(freed);
  arena_.word(freed).session.store(3);
  arena_.Retag(10, 3, 6);
  const auto session = [this](uint32_t chunk) {
    return arena_.word(chunk).session.load();
  };
  EXPECT_EQ(session(owned), 6u);
  EXPECT_EQ(session(sealed), 6u);
  EXPECT_EQ(session(other_session), 4u);
  EXPECT_EQ(session(other_process), 3u);
  EXPECT_EQ(session(no_process), 3u);
  EXPECT_EQ(session(freed), 3u);
}

TEST(OverwriteTest, OverwriteTakesTheOldestSealedChunkAndCounts) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kOverwrite, 3));
  const uint32_t stream = arena.AddStream(1, 1);
  uint64_t ticket = 0;
  uint32_t chunks[3];
  for (uint32_t& chunk : chunks) {
    chunk = arena.AcquireChunk(stream, 0, &ticket);
    WriteSlot(arena.slots(chunk)[0], 1);
    WriteSlot(arena.slots(chunk)[1], 1);
  }
  arena.SealChunk(chunks[1]);
  arena.SealChunk(chunks[0]);
  EXPECT_EQ(arena.AcquireChunk(stream, 0, &ticket), chunks[0]);
  EXPECT_EQ(arena.slots(chunks[0])[0].begin.load(), 0);
  EXPECT_EQ(arena.AcquireChunk(stream, 0, &ticket), chunks[1]);
  EXPECT_EQ(arena.AcquireChunk(stream, 0, &ticket), kNoChunk);
  EXPECT_EQ(arena.stream(stream).overwritten.load(), 4);
  arena.Unmap();
}

TEST(OverwriteTest, OverwrittenEventsAreCountedBehindHolesAndNothingElseIs) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kOverwrite, 1));
  const uint32_t stream = arena.AddStream(1, 1);
  uint64_t ticket = 0;
  const uint32_t chunk = arena.AcquireChunk(stream, 0, &ticket);
  Slot* const slots = arena.slots(chunk);
  WriteSlot(slots[0], 1, /*extra_slots=*/2);
  // A thread died before it published slot 3, so the reader leaves it out.
  WriteSlot(slots[4], 1);
  for (const SlotKind kind : {SlotKind::kEnd, SlotKind::kExtra,
                              SlotKind::kMapping, SlotKind::kResource}) {
    Slot& slot = slots[4 + static_cast<uint32_t>(kind)];
    WriteSlot(slot, 1);
    slot.kind_scope_depth = PackKind(kind, 0, 0);
  }
  WriteSlot(slots[kSlotsPerChunk - 1], 1, /*extra_slots=*/~uint32_t{0});
  arena.SealChunk(chunk);
  EXPECT_EQ(arena.AcquireChunk(stream, 0, &ticket), chunk);
  EXPECT_EQ(arena.stream(stream).overwritten.load(), 2);
  arena.Unmap();
}

TEST(OverwriteTest, PayloadIsNotCountedWhateverTheRecordsLengths) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kOverwrite, 1));
  const uint32_t stream = arena.AddStream(1, 1);
  uint64_t ticket = 0;
  const uint32_t chunk = arena.AcquireChunk(stream, 0, &ticket);
  Slot* const slots = arena.slots(chunk);
  uint32_t at = 0;
  uint32_t records = 0;
  for (const uint32_t extra : {0, 0, 3, 3, 1, 0, 2, 2, 5, 0}) {
    WriteSlot(slots[at], 1, extra);
    // Payload may look like records.
    for (uint32_t i = 1; i <= extra; ++i) WriteSlot(slots[at + i], 1);
    at += 1 + extra;
    ++records;
  }
  arena.SealChunk(chunk);
  EXPECT_EQ(arena.AcquireChunk(stream, 0, &ticket), chunk);
  EXPECT_EQ(arena.stream(stream).overwritten.load(), records);
  arena.Unmap();
}

// How many pages of a chunk are in memory.
int ResidentPages(const Arena& arena, uint32_t chunk) {
  constexpr size_t kPages = kChunkBytes / 4096;
  unsigned char pages[kPages] = {};
  EXPECT_EQ(mincore(arena.slots(chunk), kChunkBytes, pages), 0);
  int resident = 0;
  for (const unsigned char page : pages) resident += page & 1;
  return resident;
}

TEST(PopulateTest, BringsTheChunksPagesAndNoOthers) {
  int fd = -1;
  Arena arena = Arena::CreateShared(SmallOptions(FullPolicy::kStop, 4), &fd);
  ASSERT_TRUE(arena.valid());
  arena.Populate(1, 2);
  const int resident = ResidentPages(arena, 1);
  if (resident == 0) GTEST_SKIP() << "this kernel does not populate memory";
  EXPECT_EQ(resident, 16);
  EXPECT_EQ(ResidentPages(arena, 2), 16);
  EXPECT_EQ(ResidentPages(arena, 0), 0);
  EXPECT_EQ(ResidentPages(arena, 3), 0);
  arena.Unmap();
  close(fd);
}

// --- layout.h: numbers that other processes and files hold ---

template <typename E>
std::vector<int> Numbers(std::initializer_list<E> values) {
  std::vector<int> numbers;
  for (const E value : values) numbers.push_back(static_cast<int>(value));
  return numbers;
}

// From 0 on.
template <typename E>
void ExpectInOrder(std::initializer_list<E> values) {
  std::vector<int> expected(values.size());
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = static_cast<int>(i);
  EXPECT_EQ(Numbers(values), expected);
}

// Whoever changes one raises kLayoutVersion.
TEST(LayoutTest, NumbersStayWhatTheyAre) {
  EXPECT_EQ(kLayoutVersion, 7u);
  ExpectInOrder({SlotKind::kNone, SlotKind::kRange, SlotKind::kInstant,
                 SlotKind::kCounter, SlotKind::kEnd, SlotKind::kExtra,
                 SlotKind::kMemory, SlotKind::kMapping, SlotKind::kAllocation,
                 SlotKind::kFree, SlotKind::kResource});
  ExpectInOrder({PayloadKind::kPayloadEnd, PayloadKind::kName,
                 PayloadKind::kInt, PayloadKind::kDouble, PayloadKind::kString,
                 PayloadKind::kSequence, PayloadKind::kHandle,
                 PayloadKind::kOverload, PayloadKind::kInputs,
                 PayloadKind::kStack, PayloadKind::kNamed});
  ExpectInOrder({ResourceKind::kOther, ResourceKind::kThread,
                 ResourceKind::kDevice, ResourceKind::kContext,
                 ResourceKind::kStream, ResourceKind::kEvent});
  ExpectInOrder({StartEnvironment::kComplete, StartEnvironment::kNoPreload,
                 StartEnvironment::kNoArena});
  ExpectInOrder({HeapSource::kHeap, HeapSource::kMapped});
  ExpectInOrder({ChunkState::kFree, ChunkState::kOwned, ChunkState::kSealed,
                 ChunkState::kReading});
  ExpectInOrder(
      {FullPolicy::kStop, FullPolicy::kOverwrite, FullPolicy::kDrain});
  ExpectInOrder({kMemoryAllocation, kMemoryOutOfMemory});
  EXPECT_EQ(Numbers({kSlotAsync, kSlotModule, kSlotNvtx, kSlotItt}),
            (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(kSlotDomainShift, 8);
  EXPECT_EQ(kFileNumberShift, 48);
  EXPECT_EQ(kNameLost, 0u);
  EXPECT_EQ(kNameInPayload, 0xffffffffu);
  EXPECT_EQ(kNoTicket, 0xffffffffffffffffu);
  EXPECT_EQ(kNoSession, 0u);
  EXPECT_EQ(kChunkBytes, 65536u);
  EXPECT_EQ(kSlotsPerChunk, 2048u);
  EXPECT_EQ(kMaxPieceBytes, 8192u);
  EXPECT_EQ(kMaxStackFrames, 64u);
  EXPECT_EQ(kMaxNameBytes, 65536u);
  EXPECT_EQ(kMaxDepth, 0xffffffu);
}

TEST(LayoutTest, WordsHoldTheirParts) {
  const uint32_t kind = PackKind(SlotKind::kResource, 15, kMaxDepth);
  EXPECT_EQ(kind, 0xfffffffau);
  EXPECT_EQ(UnpackKind(kind), SlotKind::kResource);
  EXPECT_EQ(UnpackScope(kind), 15);
  EXPECT_EQ(UnpackDepth(kind), 0xffffffu);
  EXPECT_EQ(PackKind(SlotKind::kRange, 7, 3), 0x371u);
  EXPECT_EQ(UnpackScope(0x371), 7);
  EXPECT_EQ(UnpackDepth(0x371), 3u);
  const uint64_t owner = PackOwner(ChunkState::kReading, 0xfedcba98);
  EXPECT_EQ(owner, 0xfedcba9800000003u);
  EXPECT_EQ(OwnerState(owner | 0xffff00), ChunkState::kReading);
  EXPECT_EQ(OwnerStream(owner), 0xfedcba98u);
  for (const SlotKind event :
       {SlotKind::kRange, SlotKind::kInstant, SlotKind::kCounter,
        SlotKind::kMemory, SlotKind::kAllocation, SlotKind::kFree}) {
    EXPECT_TRUE(IsEvent(event));
  }
  for (const SlotKind none : {SlotKind::kNone, SlotKind::kEnd, SlotKind::kExtra,
                              SlotKind::kMapping, SlotKind::kResource}) {
    EXPECT_FALSE(IsEvent(none));
  }
}

}  // namespace
}  // namespace kymo::record
