#include "profiler/record/arena/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::record {
namespace {

ArenaOptions SmallOptions(FullPolicy policy, uint64_t chunks) {
  return {.capacity_bytes = chunks * kChunkBytes,
          .chunk_bytes_total = chunks * kChunkBytes,
          .policy = policy};
}

// Writes a range's head as a recorder would.
void WriteSlot(Slot& slot, uint64_t begin, uint32_t extra_slots = 0) {
  slot.name = 1;
  slot.kind_scope_depth = PackKind(SlotKind::kRange, 0, 0);
  slot.extra_slots = extra_slots;
  slot.begin.store(begin, std::memory_order_release);
}

TEST(ArenaTest, GivesEveryChunkOnceThenNone) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 8));
  ASSERT_TRUE(arena.valid());
  std::set<uint32_t> chunks;
  std::set<uint64_t> tickets;
  uint64_t ticket = 0;
  for (int i = 0; i < 8; ++i) {
    chunks.insert(arena.AcquireChunk(3, 0, &ticket));
    tickets.insert(ticket);
  }
  EXPECT_EQ(chunks.size(), 8);
  EXPECT_EQ(tickets.size(), 8);
  EXPECT_EQ(chunks.count(kNoChunk), 0);
  EXPECT_EQ(arena.AcquireChunk(3, 0, &ticket), kNoChunk);
  arena.Unmap();
}

TEST(ArenaTest, ChunksAreAlignedToTheirSize) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 2));
  EXPECT_EQ(reinterpret_cast<uint64_t>(arena.slots(1)) % kChunkBytes, 0);
  arena.Unmap();
}

TEST(ArenaTest, FreedChunkIsZeroAndComesBack) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
  uint64_t ticket = 0;
  const uint32_t chunk = arena.AcquireChunk(0, 0, &ticket);
  WriteSlot(arena.slots(chunk)[0], 5);
  arena.SealChunk(chunk);
  EXPECT_EQ(arena.AcquireChunk(0, 0, &ticket), kNoChunk);
  ChunkReader reader(arena);
  size_t seen = 0;
  EXPECT_EQ(reader.DrainSealed(
                [&](const ChunkView& view) { seen += view.slots.size(); }),
            1);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(arena.AcquireChunk(0, 0, &ticket), chunk);
  EXPECT_EQ(arena.slots(chunk)[0].begin.load(), 0);
  arena.Unmap();
}

TEST(ArenaTest, OverwriteTakesTheOldestSealedChunkAndCounts) {
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

TEST(ArenaTest, OverwrittenEventsAreCountedBehindHolesAndNothingElseIs) {
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

TEST(ArenaTest, StartsThatFindNoRoomAreCounted) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
  StartEntry* const first = arena.AddStart(7, "/bin/first", 100);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->pid.load(), 7);
  EXPECT_EQ(arena.NameText(first->program), "/bin/first");
  EXPECT_EQ(first->start_monotonic_ns, 100);
  while (arena.AddStart(8, "/bin/other", 200) != nullptr) {
  }
  EXPECT_EQ(arena.AddStart(9, "/bin/last", 300), nullptr);
  EXPECT_EQ(arena.header().starts_without_entry.load(), 2);
  EXPECT_EQ(&arena.start(0), first);
  while (arena.AddProcess() != nullptr) {
  }
  EXPECT_EQ(arena.header().processes_without_entry.load(), 1);
  arena.Unmap();
}

TEST(ArenaTest, EqualTextsHaveOneIdAcrossThreads) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
  constexpr int kThreads = 4;
  constexpr int kNames = 2000;
  std::vector<std::vector<uint32_t>> ids(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kNames; ++i) {
        ids[t].push_back(arena.InternName("name " + std::to_string(i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(ids[t], ids[0]);
  EXPECT_EQ(std::set<uint32_t>(ids[0].begin(), ids[0].end()).size(), kNames);
  for (int i = 0; i < kNames; ++i) {
    EXPECT_EQ(arena.NameText(ids[0][i]), "name " + std::to_string(i));
  }
  EXPECT_EQ(arena.header().names_lost.load(), 0);
  arena.Unmap();
}

TEST(ArenaTest, NameTableFullIsCountedAndNamesAreLost) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
  const std::string large(kMaxNameBytes - 10, 'x');
  uint32_t id = 1;
  for (int i = 0; i < 600; ++i) {
    id = arena.InternName(large + std::to_string(i));
  }
  EXPECT_EQ(id, kNameLost);
  EXPECT_GT(arena.header().names_lost.load(), 0);
  EXPECT_EQ(arena.NameText(id), "(name lost)");
  EXPECT_NE(arena.InternName("short"), kNameLost);
  arena.Unmap();
}

TEST(ArenaTest, NameLongerThanTheLimitIsCutAndCounted) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
  const std::string text(kMaxNameBytes + 1, 'x');
  EXPECT_EQ(arena.NameText(arena.InternName(text)).size(), kMaxNameBytes);
  EXPECT_EQ(arena.header().texts_truncated.load(), 1u);
  arena.Unmap();
}

TEST(ArenaTest, TargetCannotTakeTheCollectorsMemoryAway) {
  int fd = -1;
  Arena owner = Arena::CreateShared(SmallOptions(FullPolicy::kStop, 1), &fd);
  ASSERT_TRUE(owner.valid());
  EXPECT_NE(ftruncate(fd, 0), 0);
  owner.Unmap();
  close(fd);
}

TEST(ArenaTest, NonsenseIdsHaveTextToo) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
  for (const uint32_t id : {0u, 12345u, 0xfffffffeu, 0xffffffffu}) {
    EXPECT_EQ(arena.NameText(id), "(name lost)");
  }
  arena.Unmap();
}

TEST(ArenaTest, SharedArenaIsTheSameMemoryForBothSides) {
  int fd = -1;
  Arena owner = Arena::CreateShared(SmallOptions(FullPolicy::kDrain, 4), &fd);
  ASSERT_TRUE(owner.valid());
  Arena guest = Arena::Attach(fd);
  ASSERT_TRUE(guest.valid());
  EXPECT_EQ(guest.policy(), FullPolicy::kDrain);
  uint64_t ticket = 0;
  const uint32_t chunk = guest.AcquireChunk(guest.AddStream(7, 8), 0, &ticket);
  WriteSlot(guest.slots(chunk)[0], 42);
  EXPECT_EQ(owner.slots(chunk)[0].begin.load(), 42);
  EXPECT_EQ(owner.stream(0).tid.load(), 8);
  EXPECT_EQ(owner.NameText(guest.InternName("shared")), "shared");
  guest.Unmap();
  owner.Unmap();
  close(fd);
}

TEST(ArenaTest, AttachRejectsWhatIsNoArena) {
  int fd = memfd_create("not an arena", MFD_CLOEXEC);
  EXPECT_FALSE(Arena::Attach(fd).valid());
  ASSERT_EQ(ftruncate(fd, 1 << 20), 0);
  EXPECT_FALSE(Arena::Attach(fd).valid());
  EXPECT_EQ(errno, EPROTO);
  close(fd);
  // Another layout version.
  Arena owner = Arena::CreateShared(SmallOptions(FullPolicy::kStop, 1), &fd);
  owner.header().version = kLayoutVersion + 1;
  EXPECT_FALSE(Arena::Attach(fd).valid());
  owner.header().version = kLayoutVersion;
  owner.header().plan.chunk_count = 1000;
  EXPECT_FALSE(Arena::Attach(fd).valid());
  owner.Unmap();
  close(fd);
}

TEST(ArenaTest, AttachRejectsSizesThatOnlyAddUp) {
  int fd = -1;
  Arena owner = Arena::CreateShared(SmallOptions(FullPolicy::kStop, 1), &fd);
  ArenaPlan& plan = owner.header().plan;
  // Texts of nearly 2^64 bytes: the next part would begin before them. More
  // entries for processes would put it back in its place.
  const uint64_t texts = plan.name_text_bytes;
  const uint32_t processes = plan.process_capacity;
  plan.name_text_bytes = uint64_t{0} - 4096;
  plan.process_capacity +=
      static_cast<uint32_t>((texts + 4096) / sizeof(ProcessEntry));
  EXPECT_FALSE(Arena::Attach(fd).valid());
  plan.name_text_bytes = texts;
  plan.process_capacity = processes;
  ASSERT_TRUE(Arena::Attach(fd).valid());
  // No index at all, which a mask of its size less one would not bound.
  plan.process_capacity += static_cast<uint32_t>(
      plan.name_index_capacity * sizeof(uint32_t) / sizeof(ProcessEntry));
  plan.name_index_capacity = 0;
  EXPECT_FALSE(Arena::Attach(fd).valid());
  owner.Unmap();
  close(fd);
}

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

}  // namespace
}  // namespace kymo::record
