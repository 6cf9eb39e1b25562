#include "profiler/record/arena/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/arena/test_arena.h"

namespace kymo::record {
namespace {

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

TEST(ArenaTest, StartsThatFindNoRoomAreCounted) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
  StartEntry* const first = arena.AddStart(7, "/bin/first", 100);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->pid.load(), 7);
  EXPECT_EQ(arena.NameText(first->program), "/bin/first");
  EXPECT_EQ(first->start_monotonic_ns, 100);
  EXPECT_EQ(arena.start_count(), 1u);
  while (arena.AddStart(8, "/bin/other", 200) != nullptr) {
  }
  EXPECT_EQ(arena.AddStart(9, "/bin/last", 300), nullptr);
  EXPECT_EQ(arena.header().starts_without_entry.load(), 2);
  EXPECT_EQ(&arena.start(0), first);
  EXPECT_EQ(arena.start_count(), 1u << 16);
  EXPECT_EQ(arena.AddProcess(), &arena.process(0));
  EXPECT_EQ(arena.process_count(), 1u);
  while (arena.AddProcess() != nullptr) {
  }
  EXPECT_EQ(arena.header().processes_without_entry.load(), 1);
  EXPECT_EQ(arena.process_count(), 1u << 14);
  EXPECT_EQ(arena.AddStream(1, 2), 0u);
  EXPECT_EQ(arena.stream(0).pid.load(), 1);
  EXPECT_EQ(arena.stream(0).tid.load(), 2);
  EXPECT_EQ(arena.stream_count(), 1u);
  while (arena.AddStream(1, 1) != Arena::kNoStream) {
  }
  EXPECT_EQ(arena.stream_count(), 1u << 18);
  EXPECT_EQ(arena.stream_capacity(), 1u << 18);
  // A process wrote nonsense.
  arena.header().stream_count.store(~uint32_t{0});
  EXPECT_EQ(arena.stream_count(), 1u << 18);
  EXPECT_EQ(arena.AddStream(1, 1), Arena::kNoStream);
  arena.Unmap();
}

// In the order of layout.h, each on a page of its own.
TEST(ArenaTest, ItsPartsDoNotOverlap) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 3));
  const auto at = [&](const auto& part) {
    return reinterpret_cast<uint64_t>(&part) -
           reinterpret_cast<uint64_t>(&arena.header());
  };
  const uint64_t texts = reinterpret_cast<uint64_t>(arena.name_texts().data()) -
                         reinterpret_cast<uint64_t>(&arena.header());
  constexpr uint64_t kPage = 4096;
  uint64_t end = kPage;
  const auto expect_at = [&end](uint64_t begin, uint64_t bytes) {
    EXPECT_EQ(begin, (end + kPage - 1) / kPage * kPage);
    end = begin + bytes;
  };
  expect_at(at(arena.stream(0)), (uint64_t{1} << 18) * sizeof(StreamEntry));
  expect_at(at(arena.heap_counts(0)), (uint64_t{1} << 18) * sizeof(HeapCounts));
  expect_at(at(arena.process(0)), (uint64_t{1} << 14) * sizeof(ProcessEntry));
  expect_at(at(arena.start(0)), (uint64_t{1} << 16) * sizeof(StartEntry));
  // The index of names.
  expect_at(texts - (uint64_t{4} << 19), uint64_t{4} << 19);
  expect_at(texts, uint64_t{32} << 20);
  expect_at(at(arena.word(0)), 3 * sizeof(ChunkWord));
  // Chunks begin on a huge page.
  constexpr uint64_t kHugePage = uint64_t{2} << 20;
  EXPECT_EQ(at(arena.slots(0)[0]),
            (end + kHugePage - 1) / kHugePage * kHugePage);
  EXPECT_EQ(arena.bytes(), at(arena.slots(0)[0]) + 3 * kChunkBytes);
  EXPECT_EQ(reinterpret_cast<uint64_t>(&arena.header()) % kHugePage, 0u);
  EXPECT_EQ(arena.header().header_bytes, sizeof(ArenaHeader));
  arena.Unmap();
  EXPECT_FALSE(arena.valid());
}

uint64_t AddressSpacePages() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(ArenaTest, UnmappingGivesAllAddressSpaceBack) {
  const auto make = [] {
    Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
    arena.Unmap();
  };
  make();
  const uint64_t before = AddressSpacePages();
  for (int i = 0; i < 10; ++i) make();
  EXPECT_EQ(AddressSpacePages(), before);
}

TEST(ArenaTest, WithoutAddressSpaceThereIsNoArena) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  const rlimit before = limit;
  limit.rlim_cur = (AddressSpacePages() + 4096) * 4096;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const ArenaOptions large = SmallOptions(FullPolicy::kStop, 1 << 16);
  int fd = 0;
  errno = 0;
  EXPECT_FALSE(Arena::CreateAnonymous(large).valid());
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_FALSE(Arena::CreateShared(large, &fd).valid());
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(fd, -1);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

TEST(ArenaTest, AnArenaInAFileOutlivesItsCollector) {
  const std::string path = testing::TempDir() + "/arena";
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ArenaOptions options = SmallOptions(FullPolicy::kDrain, 2);
  options.clock_source = ClockSource::kCounter;
  Arena owner = Arena::CreateInFile(options, fd);
  ASSERT_TRUE(owner.valid());
  const uint32_t name = owner.InternName("kept");
  const uint64_t bytes = owner.bytes();
  owner.Unmap();
  // A file may go on behind its arena.
  struct stat status;
  ASSERT_EQ(fstat(fd, &status), 0);
  EXPECT_EQ(status.st_size, static_cast<off_t>(bytes));
  EXPECT_GE(status.st_blocks * 512, static_cast<off_t>(bytes)) << "reserved";
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(bytes + 100)), 0);
  Arena copy = Arena::MapCopy(fd);
  ASSERT_TRUE(copy.valid());
  EXPECT_EQ(copy.bytes(), bytes);
  EXPECT_EQ(copy.clock_source(), ClockSource::kCounter);
  EXPECT_EQ(copy.NameText(name), "kept");
  copy.header().next_ticket.store(77);
  Arena shared = Arena::Attach(fd);
  ASSERT_TRUE(shared.valid());
  EXPECT_EQ(shared.header().next_ticket.load(), 1u) << "a copy changes nothing";
  shared.header().next_ticket.store(78);
  EXPECT_EQ(Arena::MapCopy(fd).header().next_ticket.load(), 78u);
  // One byte less is no arena.
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(bytes - 1)), 0);
  errno = 0;
  EXPECT_FALSE(Arena::MapCopy(fd).valid());
  EXPECT_EQ(errno, EPROTO);
  close(fd);
  unlink(path.c_str());
  EXPECT_FALSE(Arena::CreateInFile(options, -1).valid());
  EXPECT_FALSE(Arena::Attach(-1).valid());
  EXPECT_EQ(errno, EBADF);
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
  // With its size, each takes 65,536 bytes, of 32 MiB less the first 8.
  constexpr uint64_t kMost = (uint64_t{32} << 20) / 65536 - 1;
  const std::string large(65536 - 4 - 4, 'x');
  uint32_t id = 1;
  for (int i = 0; i < 600; ++i) {
    id = arena.InternName(large + std::to_string(1000 + i));
    ASSERT_EQ(id != kNameLost, i < kMost) << i;
  }
  EXPECT_EQ(arena.header().names_lost.load(), 600 - kMost);
  EXPECT_EQ(arena.NameText(id), "(name lost)");
  // What is left: 65,528 bytes.
  EXPECT_EQ(arena.InternName(std::string(65525, 'y')), kNameLost);
  const std::string fits(65524, 'y');
  const uint32_t last = arena.InternName(fits);
  EXPECT_TRUE(arena.NameText(last) == fits);
  EXPECT_EQ(arena.name_texts().size(), uint64_t{32} << 20);
  EXPECT_EQ(arena.InternName(""), kNameLost);
  EXPECT_EQ(arena.InternName(fits), last) << "known";
  arena.Unmap();
}

TEST(ArenaTest, NamesStandOneBehindTheOther) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
  // In steps of 8 bytes; the first 8 are nobody's. A size takes 4.
  EXPECT_EQ(arena.InternName(""), 1u);
  EXPECT_EQ(arena.InternName("1234"), 2u);
  EXPECT_EQ(arena.InternName("12345"), 3u);
  EXPECT_EQ(arena.InternName("123456789012"), 5u);
  EXPECT_EQ(arena.InternName("1234567890123"), 7u);
  EXPECT_EQ(arena.InternName("12345"), 3u);
  EXPECT_EQ(arena.name_texts().size(), 10 * 8);
  EXPECT_EQ(arena.NameText(1), "");
  EXPECT_EQ(arena.NameText(5), "123456789012");
  EXPECT_EQ(arena.NameText(7), "1234567890123");
  // Where a process wrote nonsense, names are lost and nothing else happens.
  ArenaHeader& header = arena.header();
  for (const uint64_t used : {uint64_t{81}, (uint64_t{32} << 20) + 8}) {
    header.name_text_used.store(used);
    EXPECT_EQ(arena.InternName("new"), kNameLost) << used;
  }
  EXPECT_EQ(header.names_lost.load(), 2u);
  EXPECT_EQ(arena.name_texts().size(), uint64_t{32} << 20);
  EXPECT_EQ(arena.InternName("12345"), 3u);
  // A size that reaches over the limit, or over the end.
  char* const texts = const_cast<char*>(
      reinterpret_cast<const char*>(arena.name_texts().data()));
  const auto name_with_size = [&](uint64_t at, uint32_t size_plus_1) {
    memcpy(texts + at, &size_plus_1, sizeof(size_plus_1));
    return arena.NameText(static_cast<uint32_t>(at / 8));
  };
  EXPECT_EQ(name_with_size(64, kMaxNameBytes + 1).size(), kMaxNameBytes);
  EXPECT_EQ(name_with_size(64, kMaxNameBytes + 2), "(name lost)");
  constexpr uint64_t kEnd = uint64_t{32} << 20;
  EXPECT_EQ(name_with_size(kEnd - 8, 5).size(), 4u);
  EXPECT_EQ(name_with_size(kEnd - 8, 6), "(name lost)");
  EXPECT_EQ(arena.NameText(kEnd / 8), "(name lost)");
  arena.Unmap();
}

TEST(ArenaTest, NameLongerThanTheLimitIsCutAndCounted) {
  Arena arena = Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, 1));
  const std::string text(kMaxNameBytes + 1, 'x');
  EXPECT_EQ(arena.NameText(arena.InternName(text)).size(), kMaxNameBytes);
  EXPECT_EQ(arena.header().texts_truncated.load(), 1u);
  arena.InternName(std::string_view(text).substr(1));
  EXPECT_EQ(arena.header().texts_truncated.load(), 1u);
  arena.Unmap();
}

TEST(ArenaTest, TargetCannotTakeTheCollectorsMemoryAway) {
  int fd = -1;
  Arena owner = Arena::CreateShared(SmallOptions(FullPolicy::kStop, 1), &fd);
  ASSERT_TRUE(owner.valid());
  EXPECT_NE(ftruncate(fd, 0), 0);
  EXPECT_EQ(fcntl(fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
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

}  // namespace
}  // namespace kymo::record
