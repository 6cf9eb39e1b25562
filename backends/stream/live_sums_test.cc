#include "backends/stream/live_sums.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/stream/decode/test_chunk.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"

namespace kymo::stream {
namespace {

using model::Loss;
using record::Slot;
using record::SlotKind;

// Adds up what windows have, as a reader of trace_windows.h must.
class TestReducer : public WindowReducer {
 public:
  absl::Status Add(TraceWindow window, WindowLosses losses) override {
    const std::lock_guard<std::mutex> lock(waits);
    if (fails) return absl::InternalError("as the test wants");
    (losses == WindowLosses::kCount ? windows_before : windows_left) += 1;
    last_windows += window.is_last;
    for (size_t row = 0; row < window.shard.block.name.size(); ++row) {
      if (window.shard.block.flags[row] & model::kEventRepeated) continue;
      const std::string name(
          window.shard.strings.Get(window.shard.block.name[row]));
      const TimeNs end = window.shard.block.end_ns[row];
      calls[name] += 1;
      total_ns[name] +=
          (end == 0 ? window.end_ns : end) - window.shard.block.start_ns[row];
    }
    ends_lost += window.shard.ledger.Get(Loss::kEndsWithoutBegin);
    return absl::OkStatus();
  }

  std::mutex waits;  // for the test, if it holds this
  bool fails = false;
  int windows_before = 0, windows_left = 0, last_windows = 0;
  uint64_t ends_lost = 0;
  std::map<std::string, int64_t> calls;
  std::map<std::string, DurationNs> total_ns;
};

// A limit of disk of 64 slots: adding up begins when 48 are used, and a window
// has at least 8.
class LiveSumsTest : public testing::Test {
 protected:
  LiveSumsTest()
      : arena_(record::Arena::CreateAnonymous(
            {.capacity_bytes = 4 * record::kChunkBytes,
             .chunk_bytes_total = 4 * record::kChunkBytes,
             .policy = record::FullPolicy::kDrain,
             .clock_source = ClockSource::kSystem})) {
    arena_.AddStream(7, 7);
    EXPECT_TRUE(store_.Open(testing::TempDir(), 0).ok());
    sums_ = std::make_unique<LiveSums>(
        reducer_, arena_, &store_,
        LiveSumsOptions{.started_ticks = 1,
                        .most_disk_bytes = 64 * sizeof(Slot),
                        .disk_is_limited = true,
                        .most_memory_bytes = most_memory_bytes_});
  }
  ~LiveSumsTest() override {
    sums_.reset();
    arena_.Unmap();
  }

  // A chunk of one pass. It has `ranges` of 1 ns.
  TestChunk Chunk(uint64_t ticket, int ranges) {
    TestChunk chunk(0, ticket);
    for (int i = 0; i < ranges; ++i) {
      chunk.Add(SlotKind::kRange, now_, now_ + 1, arena_.InternName("work"), 1);
      now_ += 2;
    }
    return chunk;
  }
  void Store(const TestChunk& chunk) {
    sums_->Store(chunk.view());
    sums_->EndPass(clock_);
  }
  // What the chunks that are left have, beside what was carried to them.
  uint64_t RangesLeft() {
    std::vector<record::ChunkView> chunks;
    EXPECT_TRUE(store_.Map(chunks).ok());
    uint64_t ranges = 0;
    for (const record::ChunkView& chunk : chunks) {
      record::ForEachRecord(chunk, [&](const Slot& head, auto, uint32_t) {
        ranges += record::UnpackKind(head.kind_scope_depth) == SlotKind::kRange;
      });
    }
    return ranges;
  }

  static constexpr uint64_t most_memory_bytes_ = uint64_t{1} << 30;
  record::Arena arena_;
  ChunkStore store_;
  const TickConverter clock_{ClockSource::kSystem,
                             {.ticks = 1, .monotonic_ns = 1},
                             {.ticks = 1'000'001, .monotonic_ns = 1'000'001},
                             0};
  const std::shared_ptr<TestReducer> reducer_ = std::make_shared<TestReducer>();
  std::unique_ptr<LiveSums> sums_;
  uint64_t now_ = 10;
};

TEST_F(LiveSumsTest, NothingIsAddedUpWhileThereIsRoom) {
  for (uint64_t ticket = 1; ticket <= 4; ++ticket) Store(Chunk(ticket, 8));
  EXPECT_FALSE(sums_->has_begun());
  EXPECT_EQ(store_.bytes(), 4 * 9 * sizeof(Slot));
  EXPECT_TRUE(reducer_->calls.empty());
}

TEST_F(LiveSumsTest, EveryEventCountsOnceAndTheNewestStay) {
  constexpr uint64_t kChunks = 200;
  for (uint64_t ticket = 1; ticket <= kChunks; ++ticket) {
    Store(Chunk(ticket, 8));
  }
  EXPECT_TRUE(sums_->has_begun());
  sums_->Shrink(most_memory_bytes_);
  EXPECT_LE(store_.bytes(), 48 * sizeof(Slot));
  EXPECT_GE(store_.bytes(), 9 * sizeof(Slot));
  EXPECT_EQ(reducer_->calls["work"],
            static_cast<int64_t>(sums_->dropped().events));
  sums_->Finish(now_);
  EXPECT_EQ(reducer_->calls["work"], int64_t{8} * kChunks);
  EXPECT_EQ(reducer_->total_ns["work"], int64_t{8} * kChunks);
  EXPECT_EQ(reducer_->last_windows, 1);
  EXPECT_EQ(RangesLeft() + sums_->dropped().events, 8 * kChunks);
  EXPECT_EQ(sums_->lost_bytes(), 0u);
  EXPECT_EQ(store_.lost_bytes(), 0u);
}

TEST_F(LiveSumsTest, UsersLimitsComeBeforeTheMachines) {
  constexpr uint64_t kGib = uint64_t{1} << 30;
  const auto of = [&](auto disk, auto memory) {
    return LiveSumsOptions::Of(7, store_, kGib / 4, disk, memory);
  };
  const LiveSumsOptions machines = of(std::nullopt, std::nullopt);
  EXPECT_EQ(machines.started_ticks, 7u);
  EXPECT_EQ(machines.most_disk_bytes,
            std::min(2 * kGib, store_.RoomBytes() / 2));
  EXPECT_FALSE(machines.disk_is_limited);
  EXPECT_LE(machines.most_memory_bytes, kGib * 200 / 1024);
  EXPECT_LE(machines.most_whole_trace_bytes, kGib);
  const LiveSumsOptions users =
      of(std::optional(5 * kGib), std::optional(kGib));
  EXPECT_EQ(users.most_disk_bytes, 5 * kGib - kGib / 4);
  EXPECT_EQ(of(std::optional(kGib / 4), std::nullopt).most_disk_bytes,
            kGib / 8);
  EXPECT_TRUE(users.disk_is_limited);
  EXPECT_EQ(users.most_memory_bytes, kGib);
  constexpr uint64_t kAny = ~uint64_t{0};
  EXPECT_EQ(users.most_whole_trace_bytes, kAny);
  EXPECT_EQ(of(std::optional(5 * kGib), std::nullopt).most_whole_trace_bytes,
            kAny);
  EXPECT_EQ(of(std::nullopt, std::optional(kGib)).most_whole_trace_bytes, kAny);
}

// There is room on the disk for all of it.
TEST_F(LiveSumsTest, MemoryForTheTraceIsALimitToo) {
  constexpr uint64_t kTraceBytes = 100 * sizeof(Slot);  // of 40 slots
  sums_ = std::make_unique<LiveSums>(
      reducer_, arena_, &store_,
      LiveSumsOptions{.started_ticks = 1,
                      .most_disk_bytes = 4'096 * sizeof(Slot),
                      .most_memory_bytes = most_memory_bytes_,
                      .most_whole_trace_bytes = kTraceBytes});
  for (uint64_t ticket = 1; ticket <= 4; ++ticket) Store(Chunk(ticket, 8));
  EXPECT_FALSE(sums_->has_begun());
  Store(Chunk(5, 8));
  EXPECT_TRUE(sums_->has_begun());
}

// A collector that comes late finds many chunks, in any order of their threads.
TEST_F(LiveSumsTest, APassMayBeLargerThanAWindow) {
  std::vector<TestChunk> chunks;
  for (uint64_t ticket = 1; ticket <= 40; ++ticket) {
    chunks.push_back(Chunk(ticket, 8));
  }
  chunks.front().Add(SlotKind::kRange, now_, 0, arena_.InternName("last"), 0);
  now_ += 100;
  chunks.back().Add(SlotKind::kEnd, now_, /*ticket=*/1, /*index=*/8);
  for (size_t i = chunks.size(); i-- > 0;) sums_->Store(chunks[i].view());
  sums_->EndPass(clock_);
  sums_->Shrink(most_memory_bytes_);
  EXPECT_GE(reducer_->windows_before, 20);
  EXPECT_TRUE(sums_->was_dropped(chunks[0].view()));
  EXPECT_TRUE(sums_->was_dropped(chunks[20].view()));
  EXPECT_FALSE(sums_->was_dropped(chunks[36].view()));
  EXPECT_FALSE(sums_->was_dropped(chunks[39].view()));
  sums_->Finish(now_);
  EXPECT_EQ(reducer_->calls["work"], 40 * 8);
  EXPECT_EQ(reducer_->calls["last"], 1);
  EXPECT_EQ(reducer_->total_ns["last"], 100);
  EXPECT_EQ(reducer_->last_windows, 1);
  EXPECT_EQ(reducer_->ends_lost, 0u);
}

TEST_F(LiveSumsTest, AfterALargePassThereIsRoomAgain) {
  for (uint64_t ticket = 1; ticket <= 40; ++ticket) {
    sums_->Store(Chunk(ticket, 8).view());
  }
  sums_->EndPass(clock_);
  EXPECT_TRUE(sums_->is_full());
  while (sums_->is_full()) sums_->EndPass(clock_);
  EXPECT_EQ(store_.bytes(), 0u);
  sums_->Shrink(most_memory_bytes_);
  sums_->Finish(now_);
  EXPECT_EQ(reducer_->calls["work"], 320);
  EXPECT_EQ(reducer_->last_windows, 1);
}

// Then chunks wait in the arena.
TEST_F(LiveSumsTest, IsFullUntilThereIsRoom) {
  {
    const std::lock_guard<std::mutex> hold(reducer_->waits);
    for (uint64_t ticket = 1; ticket <= 7; ++ticket) Store(Chunk(ticket, 8));
    EXPECT_FALSE(sums_->is_full());
    Store(Chunk(8, 8));
    EXPECT_TRUE(sums_->is_full());
  }
  while (sums_->is_full()) sums_->EndPass(clock_);
  EXPECT_LT(store_.bytes(), 64 * sizeof(Slot));
  sums_->Shrink(most_memory_bytes_);
  sums_->Finish(now_);
  EXPECT_EQ(reducer_->calls["work"], 64);
}

TEST_F(LiveSumsTest, LessMemoryLeavesFewerEvents) {
  for (uint64_t ticket = 1; ticket <= 20; ++ticket) Store(Chunk(ticket, 8));
  ASSERT_TRUE(sums_->has_begun());
  // A trace takes two and a half times the bytes of its records.
  sums_->Shrink(50 * sizeof(Slot));
  EXPECT_LE(store_.bytes(), 20 * sizeof(Slot));
  sums_->Finish(now_);
  EXPECT_EQ(reducer_->calls["work"], 160);
}

// The end of one comes after its beginning was dropped.
TEST_F(LiveSumsTest, RangesAcrossWindowsCountOnceAndWhole) {
  TestChunk first(0, 1);
  first.Add(SlotKind::kRange, 5, 0, arena_.InternName("main"), 0);
  first.Add(SlotKind::kRange, 6, 8, arena_.InternName("early"), 1);
  Store(first);
  for (uint64_t ticket = 2; ticket <= 20; ++ticket) Store(Chunk(ticket, 8));
  TestChunk last = Chunk(21, 1);
  last.Add(SlotKind::kEnd, 1'005, /*ticket=*/1, /*index=*/0);
  Store(last);
  // Only the last chunk is left.
  sums_->Shrink(20 * sizeof(Slot));
  ASSERT_TRUE(sums_->has_begun());
  ASSERT_EQ(store_.bytes(), 3 * sizeof(Slot));
  const std::vector<record::ChunkView> carried = sums_->carried();
  ASSERT_EQ(carried.size(), 1u);
  EXPECT_EQ(carried[0].ticket, 1u);
  EXPECT_EQ(carried[0].first_index, 0u);
  sums_->Finish(2'000);
  EXPECT_EQ(reducer_->calls["main"], 1);
  EXPECT_EQ(reducer_->total_ns["main"], 1'000);
  EXPECT_EQ(reducer_->total_ns["early"], 2);
  EXPECT_EQ(reducer_->calls["work"], 19 * 8 + 1);
  EXPECT_EQ(reducer_->ends_lost, 0u);
}

TEST_F(LiveSumsTest, RangesThatNeverEndLastUntilTheEnd) {
  TestChunk first(0, 1);
  first.Add(SlotKind::kRange, 5, 0, arena_.InternName("main"), 0);
  Store(first);
  for (uint64_t ticket = 2; ticket <= 20; ++ticket) Store(Chunk(ticket, 8));
  // It begins after the recording's end, which other threads have seen.
  TestChunk late(0, 21);
  late.Add(SlotKind::kRange, 3'000, 3'001, arena_.InternName("late"), 1);
  Store(late);
  sums_->Shrink(most_memory_bytes_);
  sums_->Finish(2'005);
  EXPECT_EQ(reducer_->total_ns["main"], 2'000);
  EXPECT_EQ(reducer_->calls.count("late"), 0u);
}

TEST_F(LiveSumsTest, WindowsThatCannotBeAddedUpAreLost) {
  reducer_->fails = true;
  for (uint64_t ticket = 1; ticket <= 20; ++ticket) Store(Chunk(ticket, 8));
  sums_->Shrink(20 * sizeof(Slot));
  sums_->Finish(now_);
  EXPECT_EQ(sums_->dropped().events, 0u);
  EXPECT_EQ(sums_->lost_bytes(), 20 * 9 * sizeof(Slot));
}

// A thread whose stack is larger than an address space cannot be made: EAGAIN,
// as at a limit of processes.
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_attr_t none;
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    EXPECT_EQ(pthread_getattr_default_np(&none), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&none, size_t{1} << 60), 0);
    EXPECT_EQ(pthread_setattr_default_np(&none), 0);
    pthread_attr_destroy(&none);
  }
  ~NoNewThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST_F(LiveSumsTest, WithoutAThreadTheCollectorAddsUp) {
  const NoNewThreads no_threads;
  for (uint64_t ticket = 1; ticket <= 20; ++ticket) Store(Chunk(ticket, 8));
  EXPECT_TRUE(sums_->has_begun());
  EXPECT_GE(reducer_->windows_before, 1);
  EXPECT_LE(store_.bytes(), 48 * sizeof(Slot));
  sums_->Shrink(most_memory_bytes_);
  sums_->Finish(now_);
  EXPECT_EQ(reducer_->calls["work"], 160);
  EXPECT_EQ(sums_->lost_bytes(), 0u);
}

}  // namespace
}  // namespace kymo::stream
