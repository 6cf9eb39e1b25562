#include "backends/stream/raw/raw_file.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <unistd.h>

#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/free_chunks.h"
#include "backends/stream/raw/raw_parts.h"
#include "backends/stream/raw/raw_version.h"
#include "kymo/version.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {
namespace {

using record::Arena;
using record::ChunkState;
using record::ChunkView;

constexpr int64_t kEpochOffsetNs = 1'000'000'000;

class RawFileTest : public ::testing::Test {
 protected:
  RawFileTest() : path_(::testing::TempDir() + "/test.raw") {
    auto file =
        RawFile::Create(path_, {.capacity_bytes = 16 * record::kChunkBytes,
                                .chunk_bytes_total = 16 * record::kChunkBytes,
                                .policy = record::FullPolicy::kDrain,
                                .clock_source = ClockSource::kSystem});
    EXPECT_TRUE(file.ok()) << file.status();
    file_.emplace(*std::move(file));
    arena().AddProcess()->pid.store(7);
    stream_ = arena().AddStream(7, 8);
    header_ = {.epoch_offset_ns = kEpochOffsetNs,
               .first_anchor = {.ticks = 100, .monotonic_ns = 100},
               .last_anchor = {.ticks = 200, .monotonic_ns = 200}};
    file_->Note(header_);
  }

  const Arena& arena() const { return file_->arena(); }

  // A chunk with one range.
  uint32_t AddChunk(std::string_view name, uint64_t begin, uint64_t end) {
    uint64_t ticket = 0;
    const uint32_t chunk = arena().AcquireChunk(stream_, 0, &ticket);
    record::Slot& slot = arena().slots(chunk)[0];
    slot.name = arena().InternName(name);
    slot.kind_scope_depth = record::PackKind(record::SlotKind::kRange, 0, 0);
    slot.end.store(end);
    slot.begin.store(begin);
    return chunk;
  }

  // Name -> times, in nanoseconds of the recorded clock.
  std::map<std::string, std::pair<int64_t, int64_t>> Read() {
    auto raw = ReadRawFile(path_);
    EXPECT_TRUE(raw.ok()) << raw.status();
    std::map<std::string, std::pair<int64_t, int64_t>> events;
    if (!raw.ok()) return events;
    recording_ = *std::move(raw);
    const model::EventBlock& block = recording_.shard.block;
    for (size_t i = 0; i < block.size(); ++i) {
      const TimeNs end = block.end_ns[i];
      events[std::string(recording_.shard.strings.Get(block.name[i]))] = {
          block.start_ns[i] - kEpochOffsetNs,
          end == 0 ? 0 : end - kEpochOffsetNs};
    }
    return events;
  }

  const std::string path_;
  std::optional<RawFile> file_;
  uint32_t stream_ = 0;
  RawHeader header_;
  RawRecording recording_;
};

using Events = std::map<std::string, std::pair<int64_t, int64_t>>;

TEST_F(RawFileTest, HasEverythingWhoeverDied) {
  ChunkStore store;
  store.OpenAt(file_->fd(), file_->chunks_begin());
  arena().SealChunk(AddChunk("drained", 110, 120));
  record::ChunkReader(arena()).DrainSealed(
      [&](const ChunkView& view) { store.Add(view); });
  arena().SealChunk(AddChunk("sealed", 120, 130));
  AddChunk("owned", 130, 140);
  AddChunk("open", 150, 0);
  // The collector died while it read one.
  const uint32_t reading = AddChunk("reading", 140, 145);
  arena().word(reading).owner.store(
      record::PackOwner(ChunkState::kReading, stream_));

  EXPECT_EQ(Read(), (Events{{"drained", {110, 120}},
                            {"sealed", {120, 130}},
                            {"owned", {130, 140}},
                            {"reading", {140, 145}},
                            {"open", {150, 0}}}));
  EXPECT_FALSE(recording_.is_complete);
  EXPECT_EQ(recording_.cut_bytes, 0);
  EXPECT_EQ(recording_.start_ns, 100 + kEpochOffsetNs);
  EXPECT_EQ(recording_.end_ns, 200 + kEpochOffsetNs);
  ASSERT_EQ(recording_.shard.tracks.size(), 1);
  EXPECT_EQ(recording_.shard.tracks[0].pid, 7);
  EXPECT_EQ(recording_.shard.tracks[0].id, 8);
  // Reading changes nothing.
  EXPECT_EQ(Read().size(), 5);
}

TEST_F(RawFileTest, WhatWasWrittenAndNotYetFreedCountsOnce) {
  ChunkStore store;
  store.OpenAt(file_->fd(), file_->chunks_begin());
  const uint32_t chunk = AddChunk("twice", 110, 120);
  store.Add({.stream = stream_,
             .ticket = arena().word(chunk).ticket.load(),
             .first_index = 0,
             .slots = {arena().slots(chunk), 1}});
  arena().word(chunk).owner.store(
      record::PackOwner(ChunkState::kReading, stream_));
  EXPECT_EQ(Read(), (Events{{"twice", {110, 120}}}));
  EXPECT_EQ(recording_.shard.block.size(), 1);
}

TEST_F(RawFileTest, ACompleteOneNeedsNoArenaChunks) {
  ChunkStore store;
  store.OpenAt(file_->fd(), file_->chunks_begin());
  AddChunk("last", 110, 120);
  record::ChunkReader(arena()).ReadOwned(
      [&](const ChunkView& view) { store.Add(view); });
  header_.is_complete = 1;
  file_->Note(header_);
  DropFreeChunks(arena(), file_->fd());
  EXPECT_EQ(Read(), (Events{{"last", {110, 120}}}));
  EXPECT_TRUE(recording_.is_complete);
}

TEST_F(RawFileTest, ChunksOfThreadsThatGoOnKeepTheirSpace) {
  const uint32_t owned = AddChunk("goes on", 110, 120);
  const uint32_t sealed = AddChunk("full", 130, 140);
  arena().SealChunk(sealed);
  record::ChunkReader(arena()).ReadAll([](const ChunkView&) {});
  DropFreeChunks(arena(), file_->fd());
  const auto has_space = [this](uint32_t chunk) {
    const off_t at = reinterpret_cast<const char*>(arena().slots(chunk)) -
                     reinterpret_cast<const char*>(&arena().header());
    return lseek(file_->fd(), at, SEEK_DATA) == at;
  };
  EXPECT_TRUE(has_space(owned));
  EXPECT_FALSE(has_space(sealed));
}

TEST_F(RawFileTest, ANewFileLeavesTheOldOnesMemoryAlone) {
  AddChunk("old", 110, 120);
  auto second = RawFile::Create(path_, {.capacity_bytes = record::kChunkBytes});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(arena().high_water(), 1);
  EXPECT_EQ(second->arena().high_water(), 0);
}

TEST_F(RawFileTest, RecordsAfterTheLastAnchorAreInTheWindow) {
  AddChunk("late", 300, 350);
  EXPECT_EQ(Read(), (Events{{"late", {300, 350}}}));
  EXPECT_EQ(recording_.end_ns, 350 + kEpochOffsetNs);
}

TEST_F(RawFileTest, AChunkThatIsCutOffIsSaid) {
  ChunkStore store;
  store.OpenAt(file_->fd(), file_->chunks_begin());
  for (const char* const name : {"whole", "cut"}) {
    arena().SealChunk(AddChunk(name, 110, 120));
  }
  record::ChunkReader(arena()).DrainSealed(
      [&](const ChunkView& view) { store.Add(view); });
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  EXPECT_EQ(Read(), (Events{{"whole", {110, 120}}}));
  EXPECT_EQ(recording_.cut_bytes,
            sizeof(ChunkEntry) + sizeof(record::Slot) - 1);
}

TEST_F(RawFileTest, AFileThatIsShortenedMeanwhileHoldsZeros) {
  AddChunk("undrained", 100, 150);
  const auto parts = RawParts::Open(path_);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(truncate(path_.c_str(), 0), 0);
  EXPECT_EQ((*parts)->arena().slots(0)[0].begin.load(), 0u);
}

TEST_F(RawFileTest, OtherFilesAreRefused) {
  EXPECT_EQ(ReadRawFile(path_ + ".none").status().code(),
            absl::StatusCode::kNotFound);
  const std::string other = path_ + ".other";
  std::ofstream(other) << "no raw file";
  EXPECT_EQ(ReadRawFile(other).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(RawFileTest, FilesOfAnotherVersionAreRefused) {
  const auto expect_refused = [this](const std::string& why) {
    const absl::Status status = ReadRawFile(path_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), path_ + " was recorded by " + why);
  };
  const std::string other_build = "another build of Kymo " KYMO_VERSION
                                  ": read it with `kymo report` of that build";
  for (const int change : {-1, 1}) {
    header_.version = RawHeader::kVersion + static_cast<uint32_t>(change);
    file_->Note(header_);
    expect_refused(other_build);
    header_.version = RawHeader::kVersion;
    file_->Note(header_);
    EXPECT_TRUE(ReadRawFile(path_).ok());
    arena().header().version =
        record::kLayoutVersion + static_cast<uint32_t>(change);
    expect_refused(other_build);
    arena().header().version = record::kLayoutVersion;
    EXPECT_TRUE(ReadRawFile(path_).ok());
  }
}

TEST_F(RawFileTest, TheVersionThatMadeAFileIsSaid) {
  const auto write = [this](std::string text) {
    text.resize(kRawVersionBytes);
    EXPECT_EQ(pwrite(file_->fd(), text.data(), text.size(), kRawVersionAt),
              ssize_t{kRawVersionBytes});
  };
  arena().header().version = record::kLayoutVersion + 1;
  write("Kymo 0.0.9-rc1");
  EXPECT_EQ(ReadRawFile(path_).status().message(),
            path_ +
                " was recorded by Kymo 0.0.9-rc1, and this is "
                "Kymo " KYMO_VERSION
                ": read it with `kymo report` of that version");
  // From before there was a version, and what is none.
  for (const std::string text : {"", "Kymo \x1b[2J", "0.0.9", "Kymo 0.0.9\n"}) {
    write(text);
    EXPECT_EQ(ReadRawFile(path_).status().message(),
              path_ +
                  " was recorded by another version of Kymo: read it with "
                  "`kymo report` of that version");
  }
  arena().header().version = record::kLayoutVersion;
  EXPECT_TRUE(ReadRawFile(path_).ok());
}

TEST_F(RawFileTest, CutAnywhereItIsAnErrorOrAPart) {
  AddChunk("a", 110, 120);
  for (uint64_t size = std::filesystem::file_size(path_); size > 0;
       size = size / 3 * 2) {
    std::filesystem::resize_file(path_, size);
    const auto raw = ReadRawFile(path_);
    if (!raw.ok()) {
      EXPECT_EQ(raw.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST_F(RawFileTest, WhyAFileIsNoneIsSaid) {
  const auto message = [](const std::string& path) {
    return std::string(ReadRawFile(path).status().message());
  };
  const std::string begin = " is no raw file of this version of Kymo: ";
  const std::string other = path_ + ".other";
  std::ofstream{other};
  EXPECT_EQ(message(other), other + begin + "it is empty");
  std::ofstream(other) << "no raw file";
  EXPECT_EQ(message(other),
            other + begin + "the arena at its front is not one");
  EXPECT_EQ(message(path_ + ".none").find("cannot read " + path_ + ".none"), 0)
      << message(path_ + ".none");
  header_.last_anchor.ticks = header_.first_anchor.ticks;
  file_->Note(header_);
  EXPECT_EQ(
      message(path_),
      path_ + begin + "the collector ended before it had read the clock twice");
  header_.last_anchor.ticks = header_.first_anchor.ticks + 1;
  file_->Note(header_);
  EXPECT_TRUE(ReadRawFile(path_).ok());
  header_.magic += 1;
  file_->Note(header_);
  EXPECT_EQ(message(path_), path_ + begin + "its header is not one");
  for (const uint64_t bytes :
       {arena().bytes() + 7, arena().bytes(), arena().bytes() - 1,
        uint64_t{100}, uint64_t{20}}) {
    std::filesystem::resize_file(path_, bytes);
    EXPECT_EQ(message(path_),
              path_ + " is cut off: only its first " + std::to_string(bytes) +
                  " bytes are there, and ranges come later; copy it again, or "
                  "record again");
  }
}

TEST_F(RawFileTest, WhatCannotBeMadeSaysWhichFile) {
  const auto create = [](const std::string& path) {
    return RawFile::Create(path, {}).status();
  };
  EXPECT_EQ(create("/nowhere/a.raw").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(create("/nowhere/a.raw").message().find("cannot make /nowhere/a"),
            0);
  EXPECT_EQ(create(::testing::TempDir()).message().find("cannot replace "), 0);
}

TEST_F(RawFileTest, TheHeaderSaysWhatCounts) {
  arena().header().names_lost.store(7);
  arena().stream(stream_).overwritten.store(3);
  arena().heap_counts(stream_).allocations.store(2);
  header_.losses_before.names_lost = 5;
  header_.lost_bytes = 96;
  header_.heap_sample_interval = 512;
  file_->Note(header_);
  Read();
  const model::TraceShard& shard = recording_.shard;
  EXPECT_EQ(shard.ledger.Get(model::Loss::kNamesDroppedTableFull), 2u);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kDrainBytesLost), 96u);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kEventsOverwritten), 3u);
  EXPECT_EQ(shard.memory_sample_interval, 512.0);
  EXPECT_TRUE(shard.allocation_counts.empty());
  EXPECT_EQ(recording_.first_cut_byte, 0u);
  header_.with_memory = 1;
  header_.was_to_hold_time = 1;
  file_->Note(header_);
  Read();
  EXPECT_EQ(shard.allocation_counts.size(), 1u);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kEventsDroppedArenaFull), 3u);
}

// The records of a complete file are all there. A flight recorder's begin with
// the first that it kept, and ends of older ranges are no loss.
TEST_F(RawFileTest, AFlightRecorderBeginsWithItsFirstRecord) {
  ChunkStore store;
  store.OpenAt(file_->fd(), file_->chunks_begin());
  AddChunk("late", 300, 350);
  const uint32_t chunk = AddChunk("end", 310, 77);
  arena().slots(chunk)[0].kind_scope_depth =
      record::PackKind(record::SlotKind::kEnd, 0, 0);
  record::ChunkReader(arena()).ReadOwned(
      [&](const ChunkView& view) { store.Add(view); });
  header_.is_complete = 1;
  file_->Note(header_);
  Read();
  EXPECT_EQ(recording_.start_ns, 100 + kEpochOffsetNs);
  EXPECT_EQ(recording_.end_ns, 200 + kEpochOffsetNs);
  EXPECT_EQ(recording_.shard.ledger.Get(model::Loss::kEndsWithoutBegin), 1u);
  EXPECT_EQ(recording_.first_cut_byte, std::filesystem::file_size(path_));
  header_.keeps_newest = 1;
  file_->Note(header_);
  Read();
  EXPECT_EQ(recording_.start_ns, 300 + kEpochOffsetNs);
  EXPECT_EQ(recording_.shard.ledger.Get(model::Loss::kEndsWithoutBegin), 0u);
  header_.keeps_newest = 0;
  file_->Note(header_);
  arena().header().policy.store(
      static_cast<uint32_t>(record::FullPolicy::kOverwrite));
  Read();
  EXPECT_EQ(recording_.start_ns, 300 + kEpochOffsetNs);
}

TEST_F(RawFileTest, BeginsWithTheArenasMagic) {
  char head[9] = {};
  ASSERT_EQ(pread(file_->fd(), head, 8, 0), 8);
  EXPECT_TRUE(BeginsLikeRawFile({head, 8}));
  EXPECT_TRUE(BeginsLikeRawFile({head, 9}));
  EXPECT_FALSE(BeginsLikeRawFile({head, 7}));
  head[7] ^= 1;
  EXPECT_FALSE(BeginsLikeRawFile({head, 8}));
}

}  // namespace
}  // namespace kymo::stream
