#include "backends/stream/raw/chunk_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace kymo::stream {
namespace {

using record::ChunkView;
using record::Slot;

constexpr uint64_t kBegin = 8'192;
constexpr uint64_t kWholeBytes = sizeof(ChunkEntry) + record::kChunkBytes;

class ChunkStoreTest : public testing::Test {
 protected:
  ChunkStoreTest() : slots_(record::kSlotsPerChunk) {
    for (uint32_t i = 0; i < slots_.size(); ++i) slots_[i].name = i;
    EXPECT_TRUE(store_.Open(testing::TempDir(), kBegin).ok());
  }
  ChunkView View(uint64_t ticket, size_t slots) const {
    return {.stream = static_cast<uint32_t>(ticket + 1),
            .ticket = ticket,
            .first_index = static_cast<uint32_t>(ticket + 2),
            .slots = std::span(slots_).first(slots)};
  }

  std::vector<Slot> slots_;
  ChunkStore store_;
};

TEST_F(ChunkStoreTest, GivesBackWhatWasAdded) {
  const std::vector<size_t> sizes = {1, 3, record::kSlotsPerChunk, 2};
  uint64_t bytes = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    store_.Add(View(i, sizes[i]));
    bytes += (1 + sizes[i]) * sizeof(Slot);
  }
  EXPECT_EQ(store_.bytes(), bytes);
  EXPECT_EQ(lseek(store_.fd(), 0, SEEK_END),
            static_cast<off_t>(kBegin + bytes));
  std::vector<ChunkView> chunks;
  ASSERT_TRUE(store_.Map(chunks).ok());
  ASSERT_EQ(chunks.size(), sizes.size());
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(chunks[i].stream, i + 1);
      EXPECT_EQ(chunks[i].ticket, i);
      EXPECT_EQ(chunks[i].first_index, i + 2);
      ASSERT_EQ(chunks[i].slots.size(), sizes[i]);
      EXPECT_EQ(chunks[i].slots.back().name, sizes[i] - 1);
      store_.Release(chunks[i]);  // is read again
    }
  }
  EXPECT_EQ(store_.lost_bytes(), 0u);
}

uint64_t MappedFileKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stoull(line.substr(8));
  }
  return 0;
}

// Also where the kernel maps pages of neighbours along.
TEST_F(ChunkStoreTest, WhatWasReleasedIsNotInMemory) {
  for (uint64_t i = 0; i < 300; ++i) store_.Add(View(i, slots_.size()));
  std::vector<ChunkView> chunks;
  ASSERT_TRUE(store_.Map(chunks).ok());
  const uint64_t before_kib = MappedFileKib();
  uint64_t sum = 0;
  for (const ChunkView& chunk : chunks) {
    for (const Slot& slot : chunk.slots) sum += slot.name;
    store_.Release(chunk);
  }
  EXPECT_GT(sum, 0u);
  EXPECT_LE(MappedFileKib(), before_kib + 512) << "of 19,200";
}

// Such as one of the arena.
TEST_F(ChunkStoreTest, AChunkOfOtherMemoryKeepsIt) {
  store_.Add(View(0, slots_.size()));
  std::vector<ChunkView> chunks;
  ASSERT_TRUE(store_.Map(chunks).ok());
  store_.Release(View(1, slots_.size()));
  for (uint32_t i = 0; i < slots_.size(); ++i) ASSERT_EQ(slots_[i].name, i);
}

// More than are read at once.
TEST_F(ChunkStoreTest, ManyChunksAreAllThere) {
  constexpr uint64_t kChunks = 300;
  for (uint64_t i = 0; i < kChunks; ++i) store_.Add(View(i, slots_.size()));
  std::vector<ChunkView> chunks;
  ASSERT_TRUE(store_.Map(chunks).ok());
  ASSERT_EQ(chunks.size(), kChunks);
  EXPECT_EQ(chunks.back().ticket, kChunks - 1);
  EXPECT_EQ(store_.lost_bytes(), 0u);
}

TEST_F(ChunkStoreTest, DroppedChunksGiveTheirDiskBack) {
  constexpr uint64_t kChunks = 64;
  std::vector<uint64_t> ends;
  for (uint64_t i = 0; i < kChunks; ++i) {
    store_.Add(View(i, slots_.size()));
    ends.push_back(store_.end());
  }
  const auto disk_bytes = [&] {
    struct stat about = {};
    fstat(store_.fd(), &about);
    return static_cast<uint64_t>(about.st_blocks) * 512;
  };
  const uint64_t all = disk_bytes();
  for (const size_t last : {20, 60}) {
    store_.Erase(store_.front(), ends[last]);
    store_.DropUpTo(ends[last]);
  }
  EXPECT_EQ(store_.front(), ends[60]);
  EXPECT_EQ(store_.bytes(), 3 * kWholeBytes);
  EXPECT_LT(disk_bytes(), all / 4);
  std::vector<ChunkView> chunks;
  ASSERT_TRUE(store_.Map(chunks).ok());
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].ticket, 61u);
  EXPECT_EQ(chunks[0].slots.back().name, slots_.size() - 1);
  EXPECT_EQ(store_.lost_bytes(), 0u);
}

TEST_F(ChunkStoreTest, AChunkBeyondTheLimitIsLost) {
  store_.SetMostBytes(2 * kWholeBytes);
  for (uint64_t i = 0; i < 3; ++i) store_.Add(View(i, slots_.size()));
  EXPECT_EQ(store_.bytes(), 2 * kWholeBytes);
  EXPECT_EQ(store_.lost_bytes(), slots_.size() * sizeof(Slot));
  store_.DropUpTo(store_.front() + kWholeBytes);
  store_.Add(View(3, slots_.size()));
  EXPECT_EQ(store_.bytes(), 2 * kWholeBytes);
}

TEST_F(ChunkStoreTest, EmptyOnesHaveNoChunks) {
  std::vector<ChunkView> chunks;
  EXPECT_TRUE(store_.Map(chunks).ok());
  EXPECT_TRUE(chunks.empty());
}

TEST_F(ChunkStoreTest, BytesThatOthersCutOffAreLost) {
  for (uint64_t i = 0; i < 3; ++i) store_.Add(View(i, slots_.size()));
  ASSERT_EQ(ftruncate(store_.fd(), kBegin + kWholeBytes), 0);
  std::vector<ChunkView> chunks;
  ASSERT_TRUE(store_.Map(chunks).ok());
  EXPECT_EQ(chunks.size(), 1u);
  EXPECT_EQ(store_.lost_bytes(), 2 * kWholeBytes);
}

TEST_F(ChunkStoreTest, WhatCannotBeWrittenIsCounted) {
  const std::string path = testing::TempDir() + "/read_only";
  close(open(path.c_str(), O_WRONLY | O_CREAT, 0600));
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ChunkStore store;
  store.OpenAt(fd, 0);
  EXPECT_NE(store.fd(), fd);
  close(fd);
  store.Add(View(1, 3));
  store.Add(View(2, 4));
  EXPECT_EQ(store.lost_bytes(), 7 * sizeof(Slot));
  EXPECT_EQ(store.bytes(), 0u);
  EXPECT_NE(fcntl(store.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(ChunkStoreTest, AFolderThatIsNotThereIsNamed) {
  ChunkStore store;
  const absl::Status status = store.Open("/nowhere", 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message().find(
                "cannot make a file for drained records in /nowhere"),
            0u);
}

TEST(ChunkEntryTest, IsOneWithAChunkBehindIt) {
  constexpr uint64_t kBytes = record::kChunkBytes;
  ChunkEntry entry;
  entry.slots = record::kSlotsPerChunk;
  EXPECT_TRUE(IsChunkEntry(entry, kBytes));
  EXPECT_FALSE(IsChunkEntry(entry, kBytes - 1));
  entry.slots += 1;
  EXPECT_FALSE(IsChunkEntry(entry, 2 * kBytes));
  entry.slots = 1;
  EXPECT_TRUE(IsChunkEntry(entry, sizeof(Slot)));
  EXPECT_FALSE(IsChunkEntry(entry, sizeof(Slot) - 1));
  entry.magic += 1;
  EXPECT_FALSE(IsChunkEntry(entry, kBytes));
  entry = {};
  EXPECT_FALSE(IsChunkEntry(entry, kBytes));  // no slots
}

TEST(ChunkEntryTest, EntriesAreReadUpToTheFirstThatIsNone) {
  std::vector<ChunkEntry> file(5);  // an entry is as large as a slot
  file[0].slots = 2;
  file[3].slots = 1;
  const auto bytes = std::as_bytes(std::span(file));
  std::vector<ChunkView> chunks;
  EXPECT_EQ(ReadChunkEntries(bytes, chunks), 5 * sizeof(Slot));
  EXPECT_EQ(chunks.size(), 2u);
  EXPECT_EQ(ReadChunkEntries(bytes.first(5 * sizeof(Slot) - 1), chunks),
            3 * sizeof(Slot));
  EXPECT_EQ(ReadChunkEntries(bytes.first(sizeof(Slot) - 1), chunks), 0u);
  EXPECT_EQ(ReadChunkEntries(bytes.first(4 * sizeof(Slot) - 1), chunks),
            3 * sizeof(Slot));
  EXPECT_EQ(chunks.size(), 4u);
  file[0].magic = 0;
  EXPECT_EQ(ReadChunkEntries(bytes, chunks), 0u);
}

}  // namespace
}  // namespace kymo::stream
