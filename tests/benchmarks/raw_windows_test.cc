// A recording read in windows has the averages and paths of the whole.
#include "backends/stream/raw/raw_windows.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/raw_file.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/model/trace.h"
#include "profiler/normalize/normalize.h"
#include "profiler/record/arena/chunk_reader.h"
#include "tests/benchmarks/synthetic_chunks.h"

namespace kymo::benchmarks {
namespace {

using analysis::KeyAverage;
using analysis::WindowSums;
using record::ChunkView;
using record::Slot;
using record::SlotKind;

constexpr uint32_t kStreams = 4;
constexpr size_t kRanges = 120'000;
constexpr uint64_t kSmallWindow = 5 * record::kChunkBytes;

bool IsFollowUp(const Slot& slot) {
  const SlotKind kind = record::UnpackKind(slot.kind_scope_depth);
  return kind == SlotKind::kEnd || kind == SlotKind::kExtra;
}

// The synthetic recording in a raw file. Its threads took their chunks in turn,
// and they were drained in another order.
class RawWindowsTest : public testing::Test {
 protected:
  RawWindowsTest()
      : path_(testing::TempDir() + "/windows.raw"),
        synthetic_({.ranges = kRanges, .threads = kStreams, .names = 20}) {
    auto file = stream::RawFile::Create(
        path_, {.capacity_bytes = record::kChunkBytes,
                .chunk_bytes_total = record::kChunkBytes,
                .policy = record::FullPolicy::kDrain,
                .clock_source = ClockSource::kSystem});
    EXPECT_TRUE(file.ok()) << file.status();
    file_.emplace(*std::move(file));
    file_->arena().AddProcess()->pid.store(7);
    for (uint32_t stream = 0; stream < kStreams; ++stream) {
      EXPECT_EQ(file_->arena().AddStream(7, 10 + stream), stream);
    }
    Note(/*is_complete=*/true);
    CopyChunks();
  }

  void Note(bool is_complete) {
    file_->Note(
        {.epoch_offset_ns = 1'000,
         .first_anchor = {.ticks = 1, .monotonic_ns = 1},
         .last_anchor = {.ticks = 1'000'000'000, .monotonic_ns = 1'000'000'000},
         .is_complete = is_complete});
  }

  // With names of the arena, and tickets in turn.
  void CopyChunks() {
    std::map<uint64_t, uint64_t> tickets;
    std::map<uint32_t, uint64_t> taken;
    for (const ChunkView& chunk : synthetic_.input().chunks) {
      tickets[chunk.ticket] =
          1 + chunk.stream + kStreams * taken[chunk.stream]++;
    }
    for (const ChunkView& chunk : synthetic_.input().chunks) {
      copies_.push_back(record::CopySlots(chunk.slots));
      Slot* const slots = copies_.back().get();
      for (size_t i = 0; i < chunk.slots.size(); ++i) {
        if (IsFollowUp(slots[i])) {
          slots[i].end.store(tickets.at(slots[i].end.load()));
        } else {
          slots[i].name = file_->arena().InternName(
              synthetic_.input().name_text(slots[i].name));
        }
      }
      chunks_.push_back({.stream = chunk.stream,
                         .ticket = tickets.at(chunk.ticket),
                         .first_index = 0,
                         .slots = {slots, chunk.slots.size()}});
    }
  }

  Slot* SlotsOf(uint64_t ticket) {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      if (chunks_[i].ticket == ticket) return copies_[i].get();
    }
    return nullptr;
  }

  void Write() {
    std::shuffle(chunks_.begin(), chunks_.end(), std::mt19937(1));
    stream::ChunkStore store;
    store.OpenAt(file_->fd(), file_->chunks_begin());
    for (const ChunkView& chunk : chunks_) store.Add(chunk);
    ASSERT_EQ(store.lost_bytes(), 0);
  }

  model::Trace Whole() const {
    auto raw = stream::ReadRawFile(path_);
    EXPECT_TRUE(raw.ok()) << raw.status();
    std::vector<model::TraceShard> shards;
    shards.push_back(std::move(raw->shard));
    return *Normalize(std::move(shards),
                      {.start_ns = raw->start_ns, .end_ns = raw->end_ns});
  }

  static model::Trace NextTrace(stream::RawWindows& windows) {
    auto window = windows.Next();
    EXPECT_TRUE(window.ok()) << window.status();
    std::vector<model::TraceShard> shards;
    shards.push_back(std::move(window->shard));
    model::Trace trace =
        *Normalize(std::move(shards),
                   {.start_ns = window->start_ns, .end_ns = window->end_ns});
    EXPECT_TRUE(ValidateTrace(trace).ok()) << ValidateTrace(trace);
    EXPECT_EQ(window->is_last, windows.is_done());
    return trace;
  }

  WindowSums InWindows(uint64_t window_bytes) const {
    WindowSums sums;
    auto windows = stream::RawWindows::Open(path_, window_bytes);
    EXPECT_TRUE(windows.ok()) << windows.status();
    size_t count = 0;
    for (; !(*windows)->is_done(); ++count) {
      const model::Trace trace = NextTrace(**windows);
      sums.Add(trace, (*windows)->is_done());
    }
    EXPECT_GE(count, 4);
    return sums;
  }

  void ExpectSameSums() const {
    const model::Trace whole = Whole();
    std::vector<KeyAverage> expected = analysis::KeyAverages(whole);
    for (KeyAverage& average : expected) average.first_event = model::kNoEvent;
    WindowSums one_window;
    one_window.Add(whole, /*is_last=*/true);
    for (const uint64_t bytes : {kSmallWindow, 3 * kSmallWindow}) {
      SCOPED_TRACE(bytes);
      const WindowSums sums = InWindows(bytes);
      EXPECT_EQ(sums.event_count(), whole.event_count());
      EXPECT_EQ(sums.Averages(), expected);
      EXPECT_EQ(Stacks(sums), Stacks(one_window));
      for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
        const auto loss = static_cast<model::Loss>(i);
        EXPECT_EQ(sums.ledger().Get(loss), whole.ledger().Get(loss))
            << model::LossName(loss);
      }
    }
  }

  static std::map<std::string, std::pair<DurationNs, int64_t>> Stacks(
      const WindowSums& sums) {
    std::vector<std::string> lines;
    std::map<std::string, std::pair<DurationNs, int64_t>> stacks;
    for (const WindowSums::Path& path : sums.paths()) {
      lines.push_back(
          (path.parent == WindowSums::kNoPath ? "" : lines[path.parent] + ";") +
          std::string(sums.PathName(path)));
      stacks[lines.back()] = {path.self_ns, path.calls};
    }
    return stacks;
  }

  const std::string path_;
  const SyntheticChunks synthetic_;
  std::optional<stream::RawFile> file_;
  std::vector<std::unique_ptr<Slot[]>> copies_;
  std::vector<ChunkView> chunks_;
};

TEST_F(RawWindowsTest, SumsAreThoseOfTheWhole) {
  Write();
  ExpectSameSums();
}

// All but the first stream lose their last chunks, and with them ends.
TEST_F(RawWindowsTest, RangesThatNeverEndCountInTheLastWindow) {
  std::map<uint32_t, uint64_t> last;
  for (const ChunkView& chunk : chunks_) {
    last[chunk.stream] = std::max(last[chunk.stream], chunk.ticket);
  }
  std::erase_if(chunks_, [&](const ChunkView& chunk) {
    return chunk.stream != 0 && chunk.ticket == last[chunk.stream];
  });
  Write();
  ExpectSameSums();
}

TEST_F(RawWindowsTest, ARangeAroundEverythingHasAllItsChildren) {
  for (const ChunkView& chunk : chunks_) {
    if (chunk.ticket > kStreams) continue;
    // The first range of each thread ends with the recording.
    SlotsOf(chunk.ticket)[0].end.store(900'000'000);
  }
  Write();
  ExpectSameSums();
}

// As when the collector was killed: the end of time is not known before the
// last window.
TEST_F(RawWindowsTest, RecordingsThatNobodyEndedEndWithTheirLastRecord) {
  Note(/*is_complete=*/false);
  Write();
  ExpectSameSums();
}

// A thread that records little keeps its chunk for long: the ends that it
// writes for others stand in a chunk that is older than their ranges'.
TEST_F(RawWindowsTest, EndsMayStandInWindowsBeforeTheirRange) {
  const uint32_t stream = file_->arena().AddStream(7, 99);
  const auto slots = std::make_unique<Slot[]>(3);
  uint64_t newest = 0;
  for (const ChunkView& chunk : chunks_)
    newest = std::max(newest, chunk.ticket);
  // An asynchronous range in the newest chunk, in front of all else of its
  // thread, ended by the oldest chunk.
  const uint32_t name = file_->arena().InternName("request");
  auto late = std::make_unique<Slot[]>(1);
  late[0].name = name;
  late[0].kind_scope_depth = record::PackKind(SlotKind::kRange, 0, 0);
  late[0].flags = record::kSlotAsync;
  late[0].begin.store(500'000'000);
  chunks_.push_back({.stream = stream,
                     .ticket = newest + 1,
                     .first_index = 0,
                     .slots = {late.get(), 1}});
  slots[0].kind_scope_depth = record::PackKind(SlotKind::kEnd, 0, 0);
  slots[0].end.store(newest + 1);
  slots[0].name = 0;
  slots[0].begin.store(600'000'000);
  const uint32_t other = file_->arena().AddStream(7, 100);
  // Ticket 0 is older than all; nobody else has it.
  chunks_.push_back({.stream = other,
                     .ticket = 0,
                     .first_index = 0,
                     .slots = {slots.get(), 1}});
  Write();
  ExpectSameSums();
  for (const KeyAverage& average : InWindows(kSmallWindow).Averages()) {
    if (average.name != "request") continue;
    EXPECT_EQ(average.count, 1);
    EXPECT_EQ(average.cpu_time_total_ns, 100'000'000);
  }
}

// A broken target, or disk, may have written anything.
TEST_F(RawWindowsTest, WhateverTheChunksHoldIsRead) {
  Write();
  struct stat about;
  ASSERT_EQ(fstat(file_->fd(), &about), 0);
  const uint64_t begin = file_->chunks_begin();
  std::mt19937_64 random(7);
  for (int round = 0; round < 6; ++round) {
    for (int change = 0; change < 500; ++change) {
      const uint8_t byte = random() % 3 == 0 ? 0xff : random() % 256;
      const uint64_t size = static_cast<uint64_t>(about.st_size) - begin;
      ASSERT_EQ(pwrite(file_->fd(), &byte, 1,
                       static_cast<off_t>(begin + random() % size)),
                1);
    }
    auto windows = stream::RawWindows::Open(path_, kSmallWindow);
    ASSERT_TRUE(windows.ok()) << windows.status();
    WindowSums sums;
    while (!(*windows)->is_done()) {
      const model::Trace trace = NextTrace(**windows);
      sums.Add(trace, (*windows)->is_done());
    }
    EXPECT_GT(sums.event_count(), 0);
  }
}

TEST_F(RawWindowsTest, WhatIsCutOffIsSaid) {
  Write();
  const uint64_t whole = (*stream::RawWindows::Open(path_))->chunk_bytes();
  ASSERT_EQ(
      ftruncate(file_->fd(), static_cast<off_t>(file_->chunks_begin() + 1'000)),
      0);
  const auto windows = stream::RawWindows::Open(path_);
  EXPECT_EQ((*windows)->cut_bytes(), 1'000);
  EXPECT_LT((*windows)->chunk_bytes(), whole);
}

}  // namespace
}  // namespace kymo::benchmarks
