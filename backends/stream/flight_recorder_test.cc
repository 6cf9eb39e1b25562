#include "backends/stream/flight_recorder.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backends/stream/raw/raw_dump.h"
#include "backends/stream/raw/raw_file.h"
#include "gtest/gtest.h"

namespace kymo::stream {
namespace {

using record::Arena;
using record::ChunkView;
using record::Slot;
using record::SlotKind;

constexpr uint32_t kChunks = 8;

class FlightRecorderTest : public testing::Test {
 protected:
  FlightRecorderTest()
      : arena_(Arena::CreateAnonymous(
            {.capacity_bytes = kChunks * record::kChunkBytes,
             .chunk_bytes_total = kChunks * record::kChunkBytes,
             .policy = record::FullPolicy::kOverwrite})),
        stream_(arena_.AddStream(7, 8)) {
    arena_.AddProcess()->pid.store(7);
    EXPECT_TRUE(store_.Open(testing::TempDir(), 0).ok());
  }
  ~FlightRecorderTest() override { arena_.Unmap(); }

  Slot& Add(uint32_t chunk, uint32_t at, SlotKind kind, std::string_view name,
            uint64_t begin, uint64_t end) {
    Slot& slot = arena_.slots(chunk)[at];
    slot.name = arena_.InternName(name);
    slot.kind_scope_depth = record::PackKind(kind, 0, 0);
    slot.end.store(end);
    slot.begin.store(begin);
    return slot;
  }

  // A sealed chunk with one range.
  uint32_t AddChunk(std::string_view name, uint64_t begin, uint64_t end) {
    uint64_t ticket = 0;
    const uint32_t chunk = arena_.AcquireChunk(stream_, 0, &ticket);
    Add(chunk, 0, SlotKind::kRange, name, begin, end);
    arena_.SealChunk(chunk);
    return chunk;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    SnapshotChunks(arena_, [&](const ChunkView& view) {
      record::ForEachRecord(
          view, [&](const Slot& head, std::span<const Slot>, uint32_t) {
            names.emplace_back(arena_.NameText(head.name));
          });
    });
    return names;
  }

  Arena arena_;
  const uint32_t stream_;
  ChunkStore store_;
};

using Texts = std::vector<std::string>;

TEST(FlightLimitTest, TakesSecondsOrMemory) {
  EXPECT_EQ(ParseFlightLimit("30s")->keep_ns, 30 * kNsPerSecond);
  EXPECT_EQ(ParseFlightLimit("30s")->bytes, 0);
  EXPECT_EQ(ParseFlightLimit("64MiB")->bytes, uint64_t{64} << 20);
  for (const char* const text :
       {"", "s", "0s", "30", "-1s", "30 s", "86401s", "1MB", "0MiB", "65537MiB",
        "99999999999999999999s", "1.5s", "30sMiB"}) {
    EXPECT_FALSE(ParseFlightLimit(text).has_value()) << text;
  }
}

TEST(FlightLimitTest, IsShownAsItWasGiven) {
  for (const char* const text : {"1s", "86400s", "1MiB", "65536MiB"}) {
    EXPECT_EQ(FlightLimitText(*ParseFlightLimit(text)), text);
  }
}

// A chunk that was taken anew has a time of its own.
TEST_F(FlightRecorderTest, TimeBeginsWhenAChunkIsSealed) {
  FlightRecorder recorder(arena_, /*keep_ns=*/100, &store_);
  const uint32_t first = AddChunk("first", 10, 20);
  recorder.Poll(1'000);
  recorder.Poll(1'101);
  EXPECT_EQ(Names(), Texts());
  EXPECT_EQ(AddChunk("second", 30, 40), first);
  recorder.Poll(1'150);
  recorder.Poll(1'250);
  EXPECT_EQ(Names(), (Texts{"second"}));
  recorder.Poll(1'251);
  EXPECT_EQ(Names(), Texts());
}

TEST_F(FlightRecorderTest, ASnapshotHasTheChunksOfItsSession) {
  AddChunk("of nobody", 10, 20);
  const uint32_t ours = AddChunk("ours", 30, 40);
  arena_.word(ours).session.store(5);
  const uint32_t taken = AddChunk("being taken", 50, 60);
  arena_.word(taken).session.store(5);
  arena_.word(taken).ticket.store(0);
  const auto names = [&](record::SessionId session, int32_t pid) {
    Texts texts;
    SnapshotSession(arena_, {.session = session, .pid = pid},
                    [&](const ChunkView& view) {
                      EXPECT_EQ(view.stream, stream_);
                      EXPECT_EQ(view.first_index, 0u);
                      EXPECT_EQ(view.slots.size(), 1u);
                      texts.emplace_back(arena_.NameText(view.slots[0].name));
                    });
    return texts;
  };
  EXPECT_EQ(names(5, 7), (Texts{"ours"}));
  EXPECT_EQ(names(5, 8), Texts());
  EXPECT_EQ(names(6, 7), Texts());
}

TEST_F(FlightRecorderTest, LetsGoOfWhatIsOlderThanItKeeps) {
  FlightRecorder recorder(arena_, /*keep_ns=*/100, &store_);
  AddChunk("old", 10, 20);
  recorder.Poll(1'000);
  AddChunk("new", 1'010, 1'020);
  recorder.Poll(1'100);
  EXPECT_EQ(Names(), (Texts{"old", "new"}));
  recorder.Poll(1'101);
  EXPECT_EQ(Names(), (Texts{"new"}));
  EXPECT_EQ(arena_.stream(stream_).overwritten.load(), 0) << "is no loss";
}

TEST_F(FlightRecorderTest, LeavesToSessionsWhatTheyHaveYetToRead) {
  FlightRecorder recorder(arena_, /*keep_ns=*/100, &store_);
  const uint32_t chunk = AddChunk("of a session", 10, 20);
  arena_.word(chunk).session.store(1);
  recorder.Poll(1'000);
  recorder.Poll(2'000);
  EXPECT_EQ(Names(), (Texts{"of a session"}));
  arena_.word(chunk).session.store(record::kNoSession);
  recorder.Poll(2'001);
  EXPECT_EQ(Names(), Texts());
}

TEST_F(FlightRecorderTest, KeepsWhatFitsWithoutATime) {
  FlightRecorder recorder(arena_, /*keep_ns=*/0, &store_);
  for (uint32_t i = 0; i < kChunks + 2; ++i) {
    AddChunk("range " + std::to_string(i), 10 + i, 20 + i);
    recorder.Poll(INT64_MAX / 2);
  }
  EXPECT_EQ(Names().size(), kChunks);
  EXPECT_EQ(arena_.stream(stream_).overwritten.load(), 2);
}

TEST_F(FlightRecorderTest, KeepsWhatIsSaidOnce) {
  FlightRecorder recorder(arena_, /*keep_ns=*/0, &store_);
  for (int round = 0; round < 3; ++round) {
    uint64_t ticket = 0;
    const uint32_t chunk = arena_.AcquireChunk(stream_, 0, &ticket);
    Add(chunk, 0, SlotKind::kRange, "range", 10, 20);
    Slot& mapping = Add(chunk, 1, SlotKind::kMapping, "", 11 + round, 0);
    mapping.extra_slots = 2;
    std::memcpy(static_cast<void*>(&mapping + 2), "/lib/a.so", 9);
    Add(chunk, 4, SlotKind::kResource, "stream 7", 12 + round, 7);
    arena_.SealChunk(chunk);
    recorder.Poll(round);
  }
  ASSERT_EQ(recorder.kept().size(), 2) << "each once";
  const ChunkView& mapping = recorder.kept()[0];
  EXPECT_EQ(mapping.slots.size(), 3);
  EXPECT_EQ(mapping.first_index, 1);
  EXPECT_GE(mapping.ticket, kKeptTicket);
  EXPECT_STREQ(reinterpret_cast<const char*>(&mapping.slots[2]), "/lib/a.so");
  EXPECT_EQ(recorder.kept()[1].slots.size(), 1);
}

TEST_F(FlightRecorderTest, KeepsNoMoreOfWhatIsSaidOnceThanItMay) {
  FlightRecorder recorder(arena_, /*keep_ns=*/0, &store_,
                          /*most_kept_bytes=*/3 * sizeof(Slot));
  for (uint32_t i = 0; i < 5; ++i) {
    uint64_t ticket = 0;
    const uint32_t chunk = arena_.AcquireChunk(stream_, 0, &ticket);
    Add(chunk, 0, SlotKind::kResource, "stream " + std::to_string(i), 10, i);
    arena_.SealChunk(chunk);
    recorder.Poll(i);
  }
  EXPECT_EQ(recorder.kept().size(), 3);
}

TEST_F(FlightRecorderTest, CutsOffAFrontThatIsOld) {
  uint64_t ticket = 0;
  const uint32_t chunk = arena_.AcquireChunk(stream_, 0, &ticket);
  Add(chunk, 0, SlotKind::kRange, "old", 10, 20);
  Add(chunk, 1, SlotKind::kInstant, "old, too", 30, 0);
  Add(chunk, 2, SlotKind::kRange, "reaches into it", 40, 120);
  Add(chunk, 3, SlotKind::kRange, "old within", 50, 60);
  const TickConverter clock(ClockSource::kSystem, {}, {.ticks = 1'000}, 0);
  SnapshotChunks(arena_, [&](const ChunkView& view) {
    const ChunkView left = WithoutOld(view, clock, 100);
    EXPECT_EQ(left.first_index, 2);
    EXPECT_EQ(left.slots.size(), 2);
    EXPECT_TRUE(WithoutOld(view, clock, 5'000).slots.empty());
  });
}

TEST_F(FlightRecorderTest, DumpsAreRawFiles) {
  AddChunk("first", 110, 120);
  AddChunk("second", 130, 0);
  const std::string path = testing::TempDir() + "/dump.raw";
  const RawHeader header = {.first_anchor = {.ticks = 100, .monotonic_ns = 100},
                            .last_anchor = {.ticks = 200, .monotonic_ns = 200},
                            .is_complete = 1};
  const absl::Status written =
      WriteRawDump(path, arena_, [&](ChunkStore& dump) {
        SnapshotChunks(arena_, [&](const ChunkView& view) { dump.Add(view); });
        return header;
      });
  ASSERT_TRUE(written.ok()) << written;
  const auto raw = ReadRawFile(path);
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_TRUE(raw->is_complete);
  EXPECT_EQ(raw->cut_bytes, 0);
  EXPECT_EQ(raw->shard.block.size(), 2);
  EXPECT_EQ(raw->start_ns, 110) << "begins with its first event";
  EXPECT_EQ(raw->shard.tracks.size(), 1);
  EXPECT_EQ(Names().size(), 2) << "the arena is as it was";
}

TEST_F(FlightRecorderTest, DumpThatCannotBeWrittenLeavesNothing) {
  const absl::Status status =
      WriteRawDump(testing::TempDir() + "/none/dump", arena_,
                   [](ChunkStore&) { return RawHeader(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
}

}  // namespace
}  // namespace kymo::stream
