#include "backends/stream/raw/raw_keep.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/raw_dump.h"
#include "backends/stream/raw/raw_file.h"
#include "backends/stream/raw/raw_front.h"
#include "backends/stream/raw/raw_version.h"
#include "kymo/version.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {
namespace {

using record::Arena;

constexpr uint32_t kRanges = 1'000;

// A recording in a file without a name.
class RawKeepTest : public testing::Test {
 protected:
  RawKeepTest()
      : path_(testing::TempDir() + "/kept.raw"),
        arena_(Arena::CreateAnonymous(
            {.capacity_bytes = 4 * record::kChunkBytes,
             .chunk_bytes_total = 4 * record::kChunkBytes,
             .policy = record::FullPolicy::kDrain,
             .clock_source = ClockSource::kSystem})) {
    unlink(path_.c_str());
    EXPECT_TRUE(store_.Open(testing::TempDir(), RawChunksBegin(arena_)).ok());
    arena_.AddProcess()->pid.store(7);
    const uint32_t stream = arena_.AddStream(7, 8);
    uint64_t ticket = 0;
    const uint32_t chunk = arena_.AcquireChunk(stream, 0, &ticket);
    for (uint32_t i = 0; i < kRanges; ++i) {
      record::Slot& slot = arena_.slots(chunk)[i];
      slot.name = arena_.InternName("work");
      slot.kind_scope_depth = record::PackKind(record::SlotKind::kRange, 0, 0);
      slot.end.store(200 + i);
      slot.begin.store(100 + i);
    }
    store_.Add({.stream = stream,
                .ticket = ticket,
                .first_index = 0,
                .slots = {arena_.slots(chunk), kRanges}});
  }
  ~RawKeepTest() override { arena_.Unmap(); }

  absl::Status Keep() const {
    return KeepRawFile(store_.fd(), path_, arena_, kHeader);
  }

  void ExpectAllOfIt() const {
    const auto raw = ReadRawFile(path_);
    ASSERT_TRUE(raw.ok()) << raw.status();
    EXPECT_TRUE(raw->is_complete);
    EXPECT_EQ(raw->cut_bytes, 0);
    ASSERT_EQ(raw->shard.block.size(), kRanges);
    EXPECT_EQ(raw->shard.strings.Get(raw->shard.block.name[0]), "work");
    EXPECT_EQ(raw->shard.processes.size(), 1);
    const OwnedDescriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(ReadRawVersion(file.get()), KYMO_VERSION);
  }

  static constexpr RawHeader kHeader = {
      .first_anchor = {.ticks = 1, .monotonic_ns = 1},
      .last_anchor = {.ticks = 9'000, .monotonic_ns = 9'000},
      .is_complete = 1};
  const std::string path_;
  Arena arena_;
  ChunkStore store_;
};

TEST_F(RawKeepTest, WhatHadNoNameIsARawFile) {
  ASSERT_TRUE(Keep().ok()) << Keep();
  ExpectAllOfIt();
}

TEST_F(RawKeepTest, AnOlderFileOfThatNameIsReplaced) {
  ASSERT_TRUE(Keep().ok());
  ASSERT_TRUE(Keep().ok());
  ExpectAllOfIt();
}

TEST_F(RawKeepTest, WhereFilesCannotBeNamedItIsMoved) {
  ASSERT_TRUE(WriteRawFront(store_.fd(), path_, arena_, kHeader).ok());
  ASSERT_TRUE(MoveContents(store_.fd(), path_).ok());
  ExpectAllOfIt();
  struct stat about;
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600);
  EXPECT_LT(about.st_blocks * 512, about.st_size) << "holes stay holes";
}

TEST_F(RawKeepTest, AFolderThatIsNotThereIsAnErrorWithItsPath) {
  const absl::Status status =
      KeepRawFile(store_.fd(), "/nowhere/kept.raw", arena_, kHeader);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(status.message()).find("/nowhere/kept.raw"),
            std::string::npos);
}

// The tables of an arena: what WriteRawFront copies.
TEST_F(RawKeepTest, StartsThreadsAndHeapCountsAreKept) {
  arena_.AddStart(9, "/none", 50);
  arena_.heap_counts(0).allocations.store(3);
  arena_.stream(0).dropped.store(4);
  RawHeader header = kHeader;
  header.with_memory = 1;
  ASSERT_TRUE(KeepRawFile(store_.fd(), path_, arena_, header).ok());
  const auto raw = ReadRawFile(path_);
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_EQ(raw->shard.ledger.Get(model::Loss::kProcessesNotRecorded), 1u);
  EXPECT_EQ(raw->shard.ledger.Get(model::Loss::kEventsDroppedArenaFull), 4u);
  ASSERT_EQ(raw->shard.allocation_counts.size(), 1u);
  EXPECT_EQ(raw->shard.allocation_counts[0].allocations, 3u);
  EXPECT_EQ(raw->shard.tracks.at(0).id, 8);
}

// Who reads the file must not take it for a recording that goes on.
TEST_F(RawKeepTest, TheArenaOfTheFileRecordsNothing) {
  arena_.header().recording.store(1);
  ASSERT_TRUE(Keep().ok());
  record::ArenaHeader header;
  std::ifstream file(path_, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  EXPECT_EQ(header.recording, 0u);
  EXPECT_EQ(header.high_water, 0u);
  EXPECT_EQ(header.arena_bytes, arena_.bytes());
  EXPECT_EQ(arena_.header().recording, 1u);
}

TEST_F(RawKeepTest, WhatCannotBeWrittenIsAnErrorWithItsPath) {
  const int read_only = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const absl::Status status = KeepRawFile(read_only, path_, arena_, kHeader);
  close(read_only);
  EXPECT_EQ(status.message().find("cannot write " + path_), 0u) << status;
  // A folder of that name cannot be replaced.
  EXPECT_EQ(KeepRawFile(store_.fd(), testing::TempDir(), arena_, kHeader)
                .message()
                .find("cannot write " + testing::TempDir()),
            0u);
}

TEST_F(RawKeepTest, MovingLeavesAnEmptyFile) {
  ASSERT_TRUE(WriteRawFront(store_.fd(), path_, arena_, kHeader).ok());
  ASSERT_TRUE(MoveContents(store_.fd(), path_).ok());
  struct stat about;
  ASSERT_EQ(fstat(store_.fd(), &about), 0);
  EXPECT_LE(about.st_blocks * 512, 4'096);  // the last page
  EXPECT_EQ(MoveContents(store_.fd(), path_).code(),
            absl::StatusCode::kAlreadyExists);
}

// A dump writes the chunks that its caller adds.
class RawDumpTest : public RawKeepTest {
 protected:
  absl::Status Dump(const std::string& path) {
    return WriteRawDump(path, arena_, [&](ChunkStore& store) {
      is_part_there_ = access((path_ + ".part").c_str(), F_OK) == 0;
      record::ChunkReader(arena_).ReadOwned(
          [&](const record::ChunkView& view) { store.Add(view); });
      return kHeader;
    });
  }
  bool is_part_there_ = false;
};

TEST_F(RawDumpTest, HasItsNameWhenItIsComplete) {
  ASSERT_EQ(symlink("/dev/null", (path_ + ".part").c_str()), 0);
  ASSERT_TRUE(Dump(path_).ok());
  ExpectAllOfIt();
  EXPECT_TRUE(is_part_there_);
  EXPECT_NE(access((path_ + ".part").c_str(), F_OK), 0);
  struct stat about;
  ASSERT_EQ(lstat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode, static_cast<mode_t>(S_IFREG | 0600));
}

TEST_F(RawDumpTest, LeavesNothingWhereItCannotBeWritten) {
  EXPECT_EQ(Dump("/nowhere/a.raw").code(), absl::StatusCode::kNotFound);
  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  const absl::Status status = Dump(path_);
  EXPECT_EQ(status.message().find("cannot write " + path_), 0u) << status;
  EXPECT_NE(access((path_ + ".part").c_str(), F_OK), 0);
  ASSERT_EQ(rmdir(path_.c_str()), 0);
}

TEST_F(RawDumpTest, CountsWhatItCouldNotStore) {
  ASSERT_TRUE(WriteRawDump(path_, arena_, [](ChunkStore& store) {
                store.Add({.slots = {static_cast<record::Slot*>(nullptr), 2}});
                RawHeader header = kHeader;
                header.lost_bytes = 5;
                return header;
              }).ok());
  const auto raw = ReadRawFile(path_);
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_EQ(raw->shard.ledger.Get(model::Loss::kDrainBytesLost),
            5 + 2 * sizeof(record::Slot));
}

}  // namespace
}  // namespace kymo::stream
