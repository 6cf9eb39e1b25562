// Events that come as a block, with the depths that were recorded.
#include "profiler/normalize/normalize.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/base/parallel.h"
#include "profiler/normalize/test_normalize.h"
#include "tests/support/test_shard.h"

namespace kymo {
namespace {

using model::EventIndex;
using model::Loss;
using model::Trace;
using model::TraceShard;
using model::TrackIndex;

// Threads with recorded depths: as a block, in their order or not, or each on
// its own.
enum class Form { kBlock, kReversedBlock, kTracks };

// `overlaps`: a range of thread 1 reaches over the end of the one around it.
TraceShard RecordedShard(Form form, bool overlaps) {
  std::mt19937 random(5);
  TraceShard shard;
  std::vector<model::TrackEvents> threads;
  for (int64_t thread = 0; thread < 3; ++thread) {
    shard.tracks.push_back({.pid = 1, .id = thread});
    model::TrackEvents& events = threads.emplace_back();
    events.track = static_cast<TrackIndex>(thread);
    std::vector<size_t> open;
    TimeNs now = 10;
    for (size_t row = 0; row < 20'000; ++row) {
      while (!open.empty() && random() % 2 != 0) {
        events.end_ns[open.back()] = ++now;
        open.pop_back();
      }
      events.start_ns.push_back(++now);
      events.end_ns.push_back(0);
      events.name.push_back(shard.strings.Intern(std::to_string(row % 7)));
      events.type.push_back(model::ActivityType::kCpuOp);
      events.scope.push_back(model::RecordScope::kFunction);
      events.flags.push_back(0);
      events.depth.push_back(static_cast<uint32_t>(open.size()));
      events.detail.push_back(model::kNoDetail);
      if (row % 100 == 7) {
        events.detail.back() =
            static_cast<model::DetailIndex>(shard.details.size());
        shard.details.push_back({.correlation_id = row});
      }
      open.push_back(row);
    }
    for (; !open.empty(); open.pop_back()) events.end_ns[open.back()] = ++now;
    if (overlaps && thread == 1) {
      const auto inner = std::find(events.depth.begin(), events.depth.end(), 1);
      events.end_ns[inner - events.depth.begin()] = now + 100;
    }
  }
  if (form == Form::kTracks) {
    shard.events = std::move(threads);
    return shard;
  }
  if (form == Form::kReversedBlock)
    std::reverse(threads.begin(), threads.end());
  for (const model::TrackEvents& events : threads) {
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    model::EventBlock& block = shard.block;
    append(block.start_ns, events.start_ns);
    append(block.end_ns, events.end_ns);
    append(block.name, events.name);
    append(block.type, events.type);
    append(block.scope, events.scope);
    append(block.flags, events.flags);
    append(block.depth, events.depth);
    append(block.detail, events.detail);
    block.parts.push_back({.track = events.track, .end = block.size()});
  }
  return shard;
}

Trace BuildRecorded(Form form, bool overlaps) {
  std::vector<TraceShard> shards;
  shards.push_back(RecordedShard(form, overlaps));
  return Build(std::move(shards), {.start_ns = 1, .end_ns = 1'000'000});
}

TEST(NormalizeTest, BlockBecomesTheTraceWhateverItsTracksNeed) {
  for (const bool overlaps : {false, true}) {
    const Trace block = BuildRecorded(Form::kBlock, overlaps);
    const Trace tracks = BuildRecorded(Form::kTracks, overlaps);
    EXPECT_EQ(block.event_count(), 60'000u);
    EXPECT_EQ(block.tracks().size() > 3, overlaps);
    EXPECT_EQ(block.ledger().Get(Loss::kRangesOverlapping) > 0, overlaps);
    EXPECT_EQ(Tree(block), Tree(tracks));
    EXPECT_EQ(Tree(BuildRecorded(Form::kReversedBlock, overlaps)),
              Tree(tracks));
    EXPECT_EQ(block.data().start, tracks.data().start);
    EXPECT_EQ(block.data().end, tracks.data().end);
    const ParallelismLimit limit(1);
    EXPECT_EQ(Tree(BuildRecorded(Form::kBlock, overlaps)), Tree(block));
  }
}

TEST(NormalizeTest, EventsOfABlockKeepTheirDetails) {
  for (const Form form : {Form::kBlock, Form::kReversedBlock, Form::kTracks}) {
    const Trace trace = BuildRecorded(form, false);
    for (TrackIndex t = 0; t < 3; ++t) {
      for (EventIndex row = 0; row < 20'000; ++row) {
        const model::Detail* const detail =
            trace.detail(trace.track_begin(t) + row);
        ASSERT_EQ(detail != nullptr, row % 100 == 7) << row;
        if (detail == nullptr) continue;
        ASSERT_EQ(detail->correlation_id, row);
      }
    }
  }
}

TEST(NormalizeTest, BlockOfAllEventsIsNotCopied) {
  std::vector<TraceShard> shards;
  shards.push_back(RecordedShard(Form::kBlock, false));
  const TimeNs* const column = shards[0].block.start_ns.data();
  const Trace trace =
      Build(std::move(shards), {.start_ns = 1, .end_ns = 1'000'000});
  EXPECT_EQ(trace.start().data(), column);
}

TEST(NormalizeTest, BlockBesideOtherEventsIsMerged) {
  std::vector<TraceShard> shards;
  TestShard other;
  other.Intern("padding, so that ids differ");
  other.AddRange(other.AddThread(1, 1, "one"), "from elsewhere", 5, 500'000);
  shards.push_back(std::move(other).Build());
  shards.push_back(RecordedShard(Form::kBlock, false));
  const Trace trace =
      Build(std::move(shards), {.start_ns = 1, .end_ns = 1'000'000});
  EXPECT_EQ(trace.event_count(), 60'001u);
  const EventIndex first = trace.track_begin(1);
  EXPECT_EQ(trace.EventName(first), "from elsewhere");
  EXPECT_EQ(trace.parent()[first + 1], first);
}

TEST(NormalizeTest, EventsTakeThirtyFiveBytes) {
  const Trace trace = BuildRecorded(Form::kTracks, false);
  const model::TraceData& data = trace.data();
  size_t bytes = 0;
  const auto add = [&](const auto& column) {
    bytes += column.capacity() * sizeof(column[0]);
  };
  add(data.start);
  add(data.end);
  add(data.name);
  add(data.track);
  add(data.parent);
  add(data.detail);
  add(data.type);
  add(data.scope);
  add(data.flags);
  EXPECT_EQ(bytes, 35 * trace.event_count());
}

}  // namespace
}  // namespace kymo
