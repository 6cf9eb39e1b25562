#include "backends/stream/raw/raw_keep.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/raw_file.h"
#include "backends/stream/raw/raw_front.h"
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

}  // namespace
}  // namespace kymo::stream
