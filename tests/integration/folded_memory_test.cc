// Folded memory must say what single records say: the same random records are
// decoded with and without folding, and everything that a default run shows of
// them is compared.
#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "exporters/memory_timeline/timeline_page.h"
#include "exporters/stacks/memory_stacks.h"
#include "exporters/timeline/memory_counters.h"
#include "gtest/gtest.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/analysis/memory/timeline/memory_timeline.h"
#include "profiler/events/averages/trace_averages.h"
#include "profiler/events/trace_events.h"
#include "profiler/model/folded_memory.h"
#include "profiler/normalize/normalize.h"
#include "tests/integration/test_heap_stream.h"

namespace kymo {
namespace {

using model::Loss;
using model::StackId;
using record::SlotKind;

constexpr uint32_t kStacks = TestHeapStream::kStacks;
constexpr TimeNs kEndNs = 1'000'000;
constexpr TimeNs kExecNs = 10'000;
constexpr uint64_t kNever = ~uint64_t{0};

// What is recorded beside the heap.
enum class Beside {
  kNothing,
  kRanges,         // and instants, reports and mappings
  kRangesAndWork,  // and work of a device, and calls of its driver
  kWork,           // and no ranges
  kOverlaps,       // ranges of which those that began first end first
  kReports,        // of a device and of the CPU, and no ranges
  kInstants,       // and no ranges
};

constexpr std::string_view kNames[] = {"name",           "forward",
                                       "backward",       "ProfilerStep#1",
                                       "ProfilerStep#2", "ProfilerStep#3"};

// Three threads of process 7, and one of process 8, which becomes another
// program.
class Recording {
 public:
  // Behind the record at `back_at`, the clock goes back to its start.
  Recording(uint64_t seed, int records, int back_at = -1,
            Beside beside = Beside::kNothing)
      : beside_(beside), seed_(seed) {
    for (uint32_t i = 0; i < 4; ++i) streams_.emplace_back(i, 1 + i * 10'000);
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return random() % n; };
    uint64_t time = 1000;
    for (int i = 0; i < records; ++i) {
      // Often the same time, also on different threads.
      time += below(3) == 0 ? 0 : below(200);
      if (i == back_at) time = 1000;
      TestHeapStream& stream = streams_[below(4)];
      if (HasRanges()) AddRanges(time, stream, random);
      if (beside_ == Beside::kReports && below(9) == 0) {
        AddReport(time, stream, random);
      } else if (beside_ == Beside::kInstants && below(9) == 0) {
        stream.AddInstant(time, 0);
      }
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
        .name_text = [](uint32_t id) { return kNames[id]; },
        .name_limit = std::size(kNames),
        .clock =
            TickConverter(ClockSource::kSystem, {.ticks = 0}, {.ticks = 1}, 0),
        .recorded = std::move(recorded),
        .stack = [&](int64_t,
                     std::span<const uint64_t> pcs) { return stacks[pcs[0]]; },
        .fold_heap_above = fold_above,
        .others_record_ranges = HasWork()};
    for (const TestHeapStream& stream : streams_) stream.AddTo(input.chunks);
    stream::DecodeChunks(input, shard);
    std::vector<model::TraceShard> shards;
    shards.push_back(std::move(shard));
    if (HasWork()) shards.push_back(DeviceWork());
    auto trace =
        Normalize(std::move(shards), {.start_ns = 1, .end_ns = kEndNs});
    EXPECT_TRUE(trace.ok());
    return *std::move(trace);
  }

 private:
  bool HasRanges() const {
    return beside_ == Beside::kRanges || beside_ == Beside::kRangesAndWork ||
           beside_ == Beside::kOverlaps;
  }
  bool HasWork() const {
    return beside_ == Beside::kWork || beside_ == Beside::kRangesAndWork;
  }

  // A failed allocation now and then.
  static void AddReport(uint64_t time, TestHeapStream& stream,
                        std::mt19937_64& random) {
    const auto below = [&](uint64_t n) { return random() % n; };
    const bool is_cuda = below(2) == 0;
    const bool failed = below(5) == 0;
    stream.AddReport(time, failed ? 0 : 16 * (1 + below(9)),
                     static_cast<int64_t>(below(100)) - (failed ? 0 : 50),
                     is_cuda ? DeviceType::kCuda : DeviceType::kCpu,
                     is_cuda ? 0 : -1,
                     failed ? uint32_t{record::kMemoryOutOfMemory} : 0);
  }

  void AddRanges(uint64_t time, TestHeapStream& stream,
                 std::mt19937_64& random) const {
    const auto below = [&](uint64_t n) { return random() % n; };
    for (uint64_t n = below(3); n > 0; --n) {
      switch (below(8)) {
        case 0:
        case 1:
        case 2:
          stream.BeginRange(
              time, static_cast<uint32_t>(below(std::size(kNames))),
              below(2) == 0 ? RecordScope::kFunction : RecordScope::kUserScope);
          break;
        case 3:
          stream.AddInstant(time, 0);
          break;
        case 4:
          stream.AddReport(time, 16 * (1 + below(9)),
                           static_cast<int64_t>(below(100)) - 50);
          break;
        case 5:
          stream.AddMapping(time, 4096 * (1 + below(9)), 4096);
          break;
        default:
          stream.EndRange(time, beside_ == Beside::kOverlaps);
      }
    }
  }

  model::TraceShard DeviceWork() const {
    std::mt19937_64 random(seed_);
    model::TraceShard shard;
    shard.tracks = {{.kind = model::TrackKind::kStream,
                     .pid = 7,
                     .id = 1,
                     .device_index = 0},
                    {.pid = 7, .id = 71}};
    for (const model::TrackIndex track : {0, 1}) {
      const model::NameId name =
          shard.strings.Intern(track == 0 ? "Memset" : "cudaMemsetAsync");
      model::TrackEvents& events = shard.events.emplace_back();
      events.track = track;
      TimeNs time = 1000;
      for (int i = 0; i < 50; ++i) {
        time += static_cast<TimeNs>(random() % 3000);
        events.start_ns.push_back(time);
        time += static_cast<TimeNs>(random() % 3000);
        events.end_ns.push_back(time);
        events.name.push_back(name);
        events.type.push_back(track == 0 ? model::ActivityType::kGpuMemset
                                         : model::ActivityType::kCudaRuntime);
        events.scope.push_back(RecordScope::kFunction);
        events.flags.push_back(0);
      }
    }
    return shard;
  }

  const Beside beside_;
  const uint64_t seed_;
  std::vector<TestHeapStream> streams_;
};

std::string Table(const model::Trace& trace,
                  const KeyAveragesOptions& grouping = {}) {
  const auto averages =
      AveragesOfTrace(trace, {.profile_memory = true}, grouping);
  return averages.ok() ? *averages->table({})
                       : std::string(averages.status().message());
}

using Amounts = std::vector<std::vector<int64_t>>;
Amounts StackAmounts(const model::Trace& trace) {
  Amounts amounts;
  stacks::MemoryStackSums(trace).ForEach([&](const stacks::StackMemory& sum) {
    amounts.push_back({sum.track, Index(sum.stack), sum.allocated.units,
                       sum.allocated.bytes, sum.alive.units, sum.alive.bytes});
  });
  return amounts;
}

// Without categories: sums do not know them.
std::string Page(const model::Trace& trace) {
  Column<analysis::MemoryTimelineEvent> events;
  if (trace.folded_memory() == nullptr) {
    events = analysis::MemoryTimeline(trace, {});
    for (analysis::MemoryTimelineEvent& event : events) {
      event.category = analysis::MemoryCategory::kUnknown;
    }
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
    if (record.source != model::MemorySource::kHeap) continue;
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

void ExpectSameSumsBeside(Beside beside) {
  for (const int records : {20, 300, 4000}) {
    for (uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(testing::Message() << records << " records, seed " << seed);
      const Recording recording(seed, records, -1, beside);
      const model::Trace folded = recording.Decode(0);
      ExpectSameSums(folded, recording.Decode(kNever));
      EXPECT_EQ(Table(folded, {.group_by_stack_n = 1}),
                Table(recording.Decode(kNever), {.group_by_stack_n = 1}));
    }
  }
}

TEST(FoldedMemoryTest, RangesAreChargedAsBySingleRecords) {
  ExpectSameSumsBeside(Beside::kRanges);
  const model::Trace trace = Recording(1, 4000, -1, Beside::kRanges).Decode(0);
  const auto profiles = analysis::ProfileMemory(trace);
  ASSERT_FALSE(profiles.empty());
  EXPECT_FALSE(profiles[0].steps.empty());
  EXPECT_GT(profiles[0].peak.by_operation.size(), 1u);
}

// A device's tables are made of events instead of columns.
TEST(FoldedMemoryTest, BesideADeviceRangesAreChargedAsWell) {
  ExpectSameSumsBeside(Beside::kRangesAndWork);
  ExpectSameSumsBeside(Beside::kWork);
  const auto profiles =
      analysis::ProfileMemory(Recording(1, 4000, -1, Beside::kWork).Decode(0));
  ASSERT_FALSE(profiles.empty());
  EXPECT_GT(profiles[0].peak.by_operation.size(), 1u);
}

// So are those of ranges that overlap, and of reports of a device's memory.
TEST(FoldedMemoryTest, TablesOfEventsHaveTheSameSums) {
  ExpectSameSumsBeside(Beside::kOverlaps);
  ExpectSameSumsBeside(Beside::kReports);
}

// Instants have no memory, so nothing is kept for them.
TEST(FoldedMemoryTest, InstantsNeedNothingButTheSums) {
  ExpectSameSumsBeside(Beside::kInstants);
  const model::Trace trace =
      Recording(1, 4000, -1, Beside::kInstants).Decode(0);
  ASSERT_FALSE(trace.folded_memory()->heaps.empty());
  EXPECT_TRUE(trace.folded_memory()->heaps[0].threads.empty());
}

// However many records there are, a thread's events part them into few.
TEST(FoldedMemoryTest, EventsAreAsManyAsTheIntervalsBetweenRanges) {
  const Recording recording(1, 8'000, -1, Beside::kWork);
  struct Count {
    int64_t events = 0;
    int64_t records = 0;
  };
  const auto count = [&](uint64_t fold_above) {
    const auto converted =
        EventsOfTrace(recording.Decode(fold_above), {.profile_memory = true});
    EXPECT_TRUE(converted.ok());
    Count memory;
    for (const FunctionEvent& event : converted->events) {
      if (event.name != "[memory]") continue;
      ++memory.events;
      memory.records += event.count;
    }
    return memory;
  };
  const Count folded = count(0);
  const Count single = count(kNever);
  EXPECT_EQ(single.events, single.records);
  EXPECT_GT(single.records, 4'000);
  EXPECT_EQ(folded.records, single.records);
  // Four threads, of which one has 50 calls.
  EXPECT_LE(folded.events, 4 + 2 * 50);
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
