#include "backends/stream/raw/raw_windows.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/stream/decode/test_chunk.h"
#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/raw_file.h"
#include "profiler/model/loss_ledger.h"

namespace kymo::stream {
namespace {

using model::Loss;
using record::Slot;
using record::SlotKind;

constexpr int64_t kOffsetNs = 1'000'000;

class RawWindowsTest : public testing::Test {
 protected:
  RawWindowsTest() : path_(testing::TempDir() + "/windows.raw") {
    auto file =
        RawFile::Create(path_, {.capacity_bytes = 4 * record::kChunkBytes,
                                .chunk_bytes_total = 4 * record::kChunkBytes,
                                .policy = record::FullPolicy::kDrain,
                                .clock_source = ClockSource::kSystem});
    EXPECT_TRUE(file.ok()) << file.status();
    file_.emplace(*std::move(file));
    store_.OpenAt(file_->fd(), file_->chunks_begin());
    for (const int32_t tid : {7, 8}) arena().AddStream(7, tid);
    header_ = {.epoch_offset_ns = kOffsetNs,
               .first_anchor = {.ticks = 100, .monotonic_ns = 100},
               .last_anchor = {.ticks = 900, .monotonic_ns = 900},
               .is_complete = 1};
  }

  const record::Arena& arena() const { return file_->arena(); }

  // A chunk that its test fills; it is drained in the order of `Drain`.
  TestChunk& NewChunk(uint32_t stream, uint64_t ticket) {
    chunks_.push_back(std::make_unique<TestChunk>(stream, ticket));
    return *chunks_.back();
  }
  Slot& AddRange(TestChunk& chunk, const char* name, uint32_t depth,
                 uint64_t begin, uint64_t end,
                 SlotKind kind = SlotKind::kRange) {
    return chunk.Add(kind, begin, end, arena().InternName(name), depth);
  }

  std::unique_ptr<RawWindows> Open(uint64_t window_bytes) {
    for (const auto& chunk : chunks_) store_.Add(chunk->view());
    chunks_.clear();
    file_->Note(header_);
    auto windows = RawWindows::Open(path_, window_bytes);
    EXPECT_TRUE(windows.ok()) << windows.status();
    return *std::move(windows);
  }

  // The events of the next window: "tid: name begin-end", and "(again)" for
  // those that count in another one.
  std::vector<std::string> Next(RawWindows& windows) {
    auto next = windows.Next();
    EXPECT_TRUE(next.ok()) << next.status();
    window_ = *std::move(next);
    const model::EventBlock& events = window_.shard.block;
    std::vector<std::string> texts;
    size_t row = 0;
    for (const model::EventBlock::Part& part : events.parts) {
      for (; row < part.end; ++row) {
        const TimeNs end = events.end_ns[row];
        const uint8_t flags = events.flags[row];
        texts.push_back(absl::StrCat(
            window_.shard.tracks[part.track].id, ": ",
            std::string(window_.shard.strings.Get(events.name[row])), " ",
            events.start_ns[row] - kOffsetNs, "-",
            end == 0 ? 0 : end - kOffsetNs,
            (flags & model::kEventAsync) != 0 ? " async" : "",
            (flags & model::kEventRepeated) != 0 ? " (again)" : ""));
      }
    }
    return texts;
  }

  const std::string path_;
  std::optional<RawFile> file_;
  ChunkStore store_;
  RawHeader header_;
  std::vector<std::unique_ptr<TestChunk>> chunks_;
  TraceWindow window_;
};

using Events = std::vector<std::string>;

TEST_F(RawWindowsTest, EnclosingRangesAreInEachWindowAndCountOnce) {
  TestChunk& first = NewChunk(0, 1);
  AddRange(first, "outer", 0, 110, 0);
  AddRange(first, "before", 1, 120, 125);
  AddRange(first, "inner", 1, 130, 0);
  TestChunk& second = NewChunk(0, 2);
  AddRange(second, "leaf", 2, 140, 150);
  second.Add(SlotKind::kEnd, 160, /*ticket=*/1, /*index=*/2);
  AddRange(second, "mark", 1, 165, 0, SlotKind::kInstant);
  TestChunk& third = NewChunk(0, 3);
  third.Add(SlotKind::kEnd, 170, 1, 0);
  AddRange(third, "last", 0, 180, 190);
  const auto windows = Open(1);
  EXPECT_EQ(windows->chunk_bytes(), 8 * sizeof(Slot));
  EXPECT_FALSE(windows->is_done());
  EXPECT_EQ(Next(*windows),
            (Events{"7: outer 110-0 (again)", "7: before 120-125",
                    "7: inner 130-0 (again)"}));
  EXPECT_FALSE(window_.is_last);
  EXPECT_EQ(Next(*windows),
            (Events{"7: outer 110-0 (again)", "7: inner 130-160",
                    "7: leaf 140-150", "7: mark 165-165"}));
  EXPECT_FALSE(windows->is_done());
  EXPECT_EQ(Next(*windows), (Events{"7: outer 110-170", "7: last 180-190"}));
  EXPECT_TRUE(window_.is_last);
  EXPECT_TRUE(windows->is_done());
}

// The innermost range may have ended, and still be the one that a later record
// is inside of by its time.
TEST_F(RawWindowsTest, ARangeThatHasCountedKeepsItsEnd) {
  AddRange(NewChunk(0, 1), "one", 0, 110, 300);
  AddRange(NewChunk(0, 2), "two", 1, 120, 130);
  AddRange(NewChunk(0, 3), "three", 1, 140, 150);
  const auto windows = Open(1);
  EXPECT_EQ(Next(*windows), (Events{"7: one 110-300"}));
  EXPECT_EQ(Next(*windows),
            (Events{"7: one 110-300 (again)", "7: two 120-130"}));
  EXPECT_EQ(Next(*windows),
            (Events{"7: one 110-300 (again)", "7: two 120-130 (again)",
                    "7: three 140-150"}));
}

TEST_F(RawWindowsTest, OnlyThreadsThatGoOnAreCarried) {
  AddRange(NewChunk(0, 1), "ended", 0, 110, 120);
  AddRange(NewChunk(1, 2), "other", 0, 130, 140);
  AddRange(NewChunk(1, 3), "later", 0, 150, 160);
  const auto windows = Open(1);
  EXPECT_EQ(Next(*windows), (Events{"7: ended 110-120"}));
  EXPECT_EQ(Next(*windows), (Events{"8: other 130-140"}));
  EXPECT_EQ(Next(*windows),
            (Events{"8: other 130-140 (again)", "8: later 150-160"}));
}

TEST_F(RawWindowsTest, AnOpenRangeCountsInTheLastWindow) {
  AddRange(NewChunk(0, 1), "open", 0, 110, 0);
  AddRange(NewChunk(1, 2), "other", 0, 130, 140);
  const auto windows = Open(1);
  EXPECT_EQ(Next(*windows), (Events{"7: open 110-0 (again)"}));
  EXPECT_EQ(Next(*windows), (Events{"7: open 110-0", "8: other 130-140"}));
}

// The file knows from the start that the thread ended.
TEST_F(RawWindowsTest, WhetherARangeWasHandedOnIsKnownInTheLastWindow) {
  arena().heap_counts(0).thread_end_ns.store(180);
  TestChunk& first = NewChunk(0, 1);
  AddRange(first, "handed on", 0, 105, 0);
  AddRange(first, "outer", 1, 110, 0);
  AddRange(NewChunk(0, 2), "inner", 2, 140, 150);
  TestChunk& third = NewChunk(0, 3);
  third.Add(SlotKind::kEnd, 170, /*ticket=*/1, /*index=*/1);
  const auto windows = Open(1);
  EXPECT_EQ(Next(*windows),
            (Events{"7: handed on 105-0 (again)", "7: outer 110-0 (again)"}));
  EXPECT_EQ(Next(*windows),
            (Events{"7: handed on 105-0 (again)", "7: outer 110-0 (again)",
                    "7: inner 140-150"}));
  EXPECT_EQ(Next(*windows),
            (Events{"7: handed on 105-0 async", "7: outer 110-170",
                    "7: inner 140-150 (again)"}));
}

// A thread's chunk may be older than the one of the range that it ends.
TEST_F(RawWindowsTest, EndsMayComeBeforeTheirRange) {
  TestChunk& first = NewChunk(0, 1);
  AddRange(first, "other", 0, 105, 106);
  first.Add(SlotKind::kEnd, 160, /*ticket=*/3, /*index=*/1);
  first.Add(SlotKind::kEnd, 150, /*ticket=*/2, /*index=*/0);
  AddRange(NewChunk(1, 2), "second", 0, 120, 0);
  TestChunk& third = NewChunk(1, 3);
  AddRange(third, "third", 0, 130, 140);
  AddRange(third, "fourth", 0, 145, 0);
  const auto windows = Open(1);
  EXPECT_EQ(Next(*windows), (Events{"7: other 105-106"}));
  EXPECT_EQ(Next(*windows), (Events{"8: second 120-150 async"}));
  EXPECT_EQ(Next(*windows),
            (Events{"8: third 130-140", "8: fourth 145-160 async"}));
  EXPECT_FALSE(window_.shard.ledger.AnythingLost());
}

// Parts of one chunk stay together.
TEST_F(RawWindowsTest, AWindowHasAsManyChunksAsItIsLarge) {
  for (uint64_t ticket = 1; ticket <= 5; ++ticket) {
    AddRange(NewChunk(0, ticket), "range", 0, 100 * ticket, 100 * ticket + 1);
  }
  TestChunk part(0, 2);
  AddRange(part, "part", 0, 250, 260);
  record::ChunkView view = part.view();
  view.first_index = 1;
  store_.Add(view);
  const auto windows = Open(2 * sizeof(Slot));
  EXPECT_EQ(windows->chunk_bytes(), 6 * sizeof(Slot));
  EXPECT_EQ(Next(*windows), (Events{"7: range 100-101", "7: range 200-201",
                                    "7: part 250-260"}));
  EXPECT_EQ(Next(*windows), (Events{"7: part 250-260 (again)",
                                    "7: range 300-301", "7: range 400-401"}));
  EXPECT_EQ(Next(*windows),
            (Events{"7: range 400-401 (again)", "7: range 500-501"}));
  EXPECT_TRUE(windows->is_done());
}

TEST_F(RawWindowsTest, ChunksThatNobodyDrainedFollow) {
  AddRange(NewChunk(0, 1), "drained", 0, 110, 120);
  arena().header().next_ticket.store(5);
  uint64_t ticket = 0;
  Slot& slot = arena().slots(arena().AcquireChunk(1, 0, &ticket))[0];
  slot.kind_scope_depth = record::PackKind(SlotKind::kRange, 0, 0);
  slot.name = arena().InternName("in the arena");
  slot.end.store(140);
  slot.begin.store(130);
  const auto windows = Open(1);
  EXPECT_EQ(windows->chunk_bytes(), 2 * sizeof(Slot));
  EXPECT_EQ(Next(*windows), (Events{"7: drained 110-120"}));
  EXPECT_EQ(Next(*windows), (Events{"8: in the arena 130-140"}));
}

TEST_F(RawWindowsTest, WindowsSayTimesAndLosses) {
  AddRange(NewChunk(0, 1), "early", 0, 110, 120);
  AddRange(NewChunk(0, 2), "late", 0, 2'000, 2'500);
  header_.lost_bytes = 64;
  arena().header().names_lost.store(5);
  header_.losses_before.names_lost = 2;
  arena().heap_counts(0).allocations.store(3);
  header_.with_memory = 1;
  auto windows = Open(1);
  EXPECT_TRUE(windows->is_complete());
  EXPECT_EQ(windows->cut_bytes(), 0u);
  EXPECT_EQ(windows->Notes(), std::vector<std::string>());
  Next(*windows);
  EXPECT_EQ(window_.start_ns, kOffsetNs + 100);
  EXPECT_EQ(window_.end_ns, kOffsetNs + 900);
  EXPECT_EQ(window_.shard.ledger.Get(Loss::kDrainBytesLost), 64u);
  EXPECT_EQ(window_.shard.ledger.Get(Loss::kNamesDroppedTableFull), 3u);
  EXPECT_EQ(window_.shard.allocation_counts.size(), 1u);
  Next(*windows);
  EXPECT_EQ(window_.end_ns, kOffsetNs + 900);
  EXPECT_FALSE(window_.shard.ledger.AnythingLost());
  EXPECT_TRUE(window_.shard.allocation_counts.empty());

  // Nobody ended it: then it ends with its last record.
  header_.is_complete = 0;
  windows = Open(1);
  EXPECT_EQ(windows->Notes(),
            (std::vector<std::string>{"nobody ended this recording: the "
                                      "command was killed, or still runs"}));
  Next(*windows);
  EXPECT_EQ(window_.end_ns, std::numeric_limits<TimeNs>::max() / 2);
  Next(*windows);
  EXPECT_EQ(window_.end_ns, kOffsetNs + 2'500);
}

TEST_F(RawWindowsTest, AFileThatIsCutOffSaysHowMuchIsNoChunk) {
  AddRange(NewChunk(0, 1), "whole", 0, 110, 120);
  AddRange(NewChunk(0, 2), "cut", 0, 130, 140);
  Open(1);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  const auto windows = Open(1);
  EXPECT_EQ(windows->cut_bytes(), sizeof(ChunkEntry) + sizeof(Slot) - 1);
  EXPECT_EQ(windows->Notes(),
            (std::vector<std::string>{
                "the last 63 bytes of the file are no whole chunk"}));
  EXPECT_EQ(Next(*windows), (Events{"7: whole 110-120"}));
  EXPECT_TRUE(window_.is_last);
  // It became shorter while it was read.
  const auto other = Open(1);
  std::filesystem::resize_file(path_, file_->chunks_begin());
  EXPECT_EQ(other->Next().status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace kymo::stream
