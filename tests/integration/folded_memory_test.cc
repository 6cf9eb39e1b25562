// Folded memory must say what single records say: the same random records are
// decoded with and without folding, and everything that a default run shows of
// them is compared.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "exporters/memory_timeline/timeline_page.h"
#include "exporters/stacks/memory_stacks.h"
#include "exporters/timeline/memory_counters.h"
#include "gtest/gtest.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/analysis/memory/memory_timeline.h"
#include "profiler/events/averages/trace_averages.h"
#include "profiler/model/folded_memory.h"
#include "profiler/normalize/normalize.h"

namespace kymo {
namespace {

using model::Loss;
using model::StackId;
using record::Slot;
using record::SlotKind;

constexpr uint32_t kStacks = 6;
constexpr TimeNs kEndNs = 1'000'000;
constexpr TimeNs kExecNs = 10'000;
constexpr uint64_t kNever = ~uint64_t{0};

// Records of a thread, in chunks.
class Stream {
 public:
  Stream(uint32_t id, uint64_t first_ticket) : id_(id), ticket_(first_ticket) {}

  void Add(SlotKind kind, uint64_t time, uint64_t address, uint32_t bytes,
           uint64_t stack) {
    const uint32_t extra = stack == 0 ? 0 : 1;
    if (chunks_.empty() || used_.back() + 1 + extra > kSlots) {
      chunks_.emplace_back(kSlots);
      used_.push_back(0);
    }
    Slot* const slot = &chunks_.back()[used_.back()];
    slot->begin.store(time);
    slot->end.store(address);
    slot->name = bytes;
    slot->kind_scope_depth = record::PackKind(kind, 0, 0);
    slot->extra_slots = extra;
    if (extra != 0) {
      const record::PayloadHeader header = {.kind = record::PayloadKind::kStack,
                                            .continues = 0,
                                            .size_bytes = 2 * sizeof(uint64_t),
                                            .key = stack == kStacks};  // cut
      const uint64_t pcs[2] = {stack, 1000 + stack};
      char* const at = reinterpret_cast<char*>(slot + 1);
      std::memcpy(at, &header, sizeof(header));
      std::memcpy(at + sizeof(header), pcs, sizeof(pcs));
    }
    used_.back() += 1 + extra;
  }

  void AddTo(std::vector<record::ChunkView>& views) const {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      views.push_back({.stream = id_,
                       .ticket = ticket_ + i,
                       .first_index = 0,
                       .slots = std::span(chunks_[i]).first(used_[i])});
    }
  }

 private:
  static constexpr size_t kSlots = 64;

  const uint32_t id_;
  const uint64_t ticket_;
  std::vector<std::vector<Slot>> chunks_;
  std::vector<size_t> used_;
};

// Three threads of process 7, and one of process 8, which becomes another
// program.
class Recording {
 public:
  // Behind the record at `back_at`, the clock goes back to its start.
  Recording(uint64_t seed, int records, int back_at = -1) {
    for (uint32_t i = 0; i < 4; ++i) streams_.emplace_back(i, 1 + i * 10'000);
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return random() % n; };
    uint64_t time = 1000;
    for (int i = 0; i < records; ++i) {
      // Often the same time, also on different threads.
      time += below(3) == 0 ? 0 : below(200);
      if (i == back_at) time = 1000;
      Stream& stream = streams_[below(4)];
      const uint64_t address = 16 * (1 + below(40));
      if (below(2) == 0) {
        const bool is_null = below(50) == 0;  // of no program that is sound
        stream.Add(SlotKind::kFree, time, is_null ? 0 : address, 0, 0);
        continue;
      }
      const uint32_t bytes = static_cast<uint32_t>(below(4) << below(12));
      const uint64_t stack = below(kStacks + 1);
      if (below(50) == 0) {  // one that failed
        stream.Add(SlotKind::kAllocation, time, 0, bytes, stack);
        continue;
      }
      stream.Add(SlotKind::kAllocation, time, address, bytes, stack);
      if (below(4) == 0) {
        stream.Add(SlotKind::kFree, time + below(2), address, 0, 0);
        time += 1;
      }
    }
  }

  model::Trace Decode(uint64_t fold_above,
                      std::vector<stream::TickInterval> recorded = {}) const {
    model::TraceShard shard;
    for (const int64_t tid : {7, 71, 72, 8}) {
      shard.tracks.push_back({.pid = tid == 8 ? 8 : 7, .id = tid});
    }
    shard.processes = {{.pid = 7, .start_ns = 500},
                       {.pid = 8, .start_ns = 600},
                       {.pid = 8, .start_ns = kExecNs}};
    std::vector<StackId> stacks = {model::kEmptyStack};
    for (uint32_t i = 1; i <= kStacks; ++i) {
      const model::FrameId frame = shard.stacks.AddFrame(
          {.function = shard.strings.Intern("f" + std::to_string(i))});
      stacks.push_back(shard.stacks.Push(model::kEmptyStack, frame));
    }
    stream::DecodeInput input = {
        .stream_tracks = {0, 1, 2, 3},
        .name_text = [](uint32_t) { return std::string_view("name"); },
        .name_limit = 1,
        .clock =
            TickConverter(ClockSource::kSystem, {.ticks = 0}, {.ticks = 1}, 0),
        .recorded = std::move(recorded),
        .stack = [&](int64_t,
                     std::span<const uint64_t> pcs) { return stacks[pcs[0]]; },
        .fold_heap_above = fold_above};
    for (const Stream& stream : streams_) stream.AddTo(input.chunks);
    stream::DecodeChunks(input, shard);
    std::vector<model::TraceShard> shards;
    shards.push_back(std::move(shard));
    auto trace =
        Normalize(std::move(shards), {.start_ns = 1, .end_ns = kEndNs});
    EXPECT_TRUE(trace.ok());
    return *std::move(trace);
  }

 private:
  std::vector<Stream> streams_;
};

std::string Table(const model::Trace& trace) {
  const auto averages = AveragesOfTrace(trace, {.profile_memory = true}, {});
  return averages.ok() ? *averages->table({})
                       : std::string(averages.status().message());
}

using Amounts = std::vector<std::vector<int64_t>>;
Amounts StackAmounts(const model::Trace& trace) {
  Amounts amounts;
  for (const stacks::StackMemory& sum : stacks::SumMemory(trace)) {
    amounts.push_back({sum.track, Index(sum.stack), sum.allocated.units,
                       sum.allocated.bytes, sum.alive.units, sum.alive.bytes});
  }
  return amounts;
}

std::string Page(const model::Trace& trace) {
  Column<analysis::MemoryTimelineEvent> events;
  if (trace.folded_memory() == nullptr) {
    events = analysis::MemoryTimeline(trace, {});
  }
  return memory_timeline::TimelinePageData({.events = events,
                                            .folded = trace.folded_memory(),
                                            .device = "cpu",
                                            .start_ns = trace.start_ns(),
                                            .end_ns = trace.end_ns()});
}

void ExpectSameCounters(const model::Trace& a, const model::Trace& b) {
  const auto left = timeline::MemoryCounters(a);
  const auto right = timeline::MemoryCounters(b);
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].name, right[i].name);
    ASSERT_EQ(left[i].points.size(), right[i].points.size());
    for (size_t p = 0; p < left[i].points.size(); ++p) {
      EXPECT_EQ(left[i].points[p].time, right[i].points[p].time);
      EXPECT_EQ(left[i].points[p].value, right[i].points[p].value);
    }
  }
}

void ExpectSameSums(const model::Trace& folded, const model::Trace& single) {
  ASSERT_EQ(single.folded_memory(), nullptr);
  ASSERT_NE(folded.folded_memory(), nullptr);
  for (const model::MemoryRecord& record : folded.memory()) {
    EXPECT_EQ(record.event, model::MemoryEvent::kOutOfMemory);
  }
  EXPECT_EQ(analysis::ProfileMemory(folded), analysis::ProfileMemory(single));
  EXPECT_EQ(Table(folded), Table(single));
  EXPECT_EQ(StackAmounts(folded), StackAmounts(single));
  EXPECT_EQ(Page(folded), Page(single));
  ExpectSameCounters(folded, single);
  for (const Loss loss : {Loss::kFreesOfUnknownBlocks, Loss::kFreesNotSeen,
                          Loss::kStacksTruncated, Loss::kRecordsCorrupt}) {
    EXPECT_EQ(folded.ledger().Get(loss), single.ledger().Get(loss))
        << static_cast<int>(loss);
  }
}

TEST(FoldedMemoryTest, SumsAreThoseOfSingleRecords) {
  for (const int records : {1, 20, 300, 4000}) {
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(testing::Message() << records << " records, seed " << seed);
      const Recording recording(seed, records);
      ExpectSameSums(recording.Decode(0), recording.Decode(kNever));
    }
  }
}

// A program's session may record parts of its time.
TEST(FoldedMemoryTest, OnlyWhatWasRecordedCounts) {
  const std::vector<stream::TickInterval> recorded = {
      {.begin = 5'000, .end = 60'000}, {.begin = 90'000, .end = 95'000}};
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Recording recording(seed, 4000);
    const model::Trace folded = recording.Decode(0, recorded);
    ExpectSameSums(folded, recording.Decode(kNever, recorded));
    const model::Trace all = recording.Decode(0);
    ASSERT_FALSE(all.folded_memory()->heaps.empty());
    EXPECT_LT(folded.folded_memory()->heaps[0].record_count(),
              all.folded_memory()->heaps[0].record_count());
    EXPECT_GE(folded.folded_memory()->heaps[0].first_ns, 5'000);
  }
}

TEST(FoldedMemoryTest, AClockThatWentBackKeepsSingleRecords) {
  const Recording recording(1, 4000, 2000);
  const model::Trace trace = recording.Decode(0);
  EXPECT_EQ(trace.folded_memory(), nullptr);
  EXPECT_FALSE(trace.memory().empty());
}

TEST(FoldedMemoryTest, FewRecordsStaySingle) {
  const Recording recording(1, 20);
  EXPECT_EQ(recording.Decode(1000).folded_memory(), nullptr);
}

}  // namespace
}  // namespace kymo
