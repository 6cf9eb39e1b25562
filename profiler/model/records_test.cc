// Records, what they say if nobody set them, and sums of them.
#include "profiler/model/records.h"

#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "profiler/model/folded_memory.h"
#include "profiler/model/rare_details.h"
#include "profiler/model/recorded_by.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_shard.h"

namespace kymo::model {
namespace {

TEST(RecordedByTest, TheMarkIsPyTorchs) {
  TraceShard shard;
  EXPECT_FALSE(IsOfPyTorch(shard));
  const auto add = [&](const char* key, const char* value) {
    shard.metadata.push_back({.key = shard.strings.Intern(key),
                              .json_value = shard.strings.Intern(value)});
  };
  add("kymo_recorded_by", "\"JAX\"");
  add("other", "\"PyTorch\"");
  EXPECT_FALSE(IsOfPyTorch(shard));
  MarkAsPyTorchs(shard);
  EXPECT_TRUE(IsOfPyTorch(shard));
  EXPECT_EQ(shard.metadata.size(), 3u);
  UnmarkAsPyTorchs(shard);
  EXPECT_FALSE(IsOfPyTorch(shard));
  ASSERT_EQ(shard.metadata.size(), 1u);
  EXPECT_EQ(shard.strings.Get(shard.metadata[0].key), "other");

  for (const char* value : {"\"PyTorch\"", "\"JAX\""}) {
    for (const char* key : {"kymo_recorded_by", "other"}) {
      TraceData data;
      data.metadata.push_back({.key = data.strings.Intern(key),
                               .json_value = data.strings.Intern(value)});
      EXPECT_EQ(IsOfPyTorch(Trace(std::move(data))),
                std::string(key) == "kymo_recorded_by" &&
                    std::string(value) == "\"PyTorch\"");
    }
  }
  EXPECT_FALSE(IsOfPyTorch(Trace(TraceData())));
}

TEST(RecordsTest, FieldsThatNobodySetSayNothing) {
  EXPECT_EQ(Process().pid, 0);
  EXPECT_EQ(Process().parent_pid, 0);
  EXPECT_EQ(Process().start_ns, 0);
  EXPECT_EQ(Process().end_ns, 0);
  const Track track;
  EXPECT_EQ(track.kind, TrackKind::kThread);
  EXPECT_EQ(track.pid, 0);
  EXPECT_EQ(track.id, 0);
  EXPECT_EQ(track.device_index, -1);
  EXPECT_EQ(track.logical_id, 0u);
  const Detail detail;
  EXPECT_EQ(detail.correlation_id, 0u);
  EXPECT_EQ(detail.args_begin, 0u);
  EXPECT_EQ(detail.args_end, 0u);
  EXPECT_EQ(detail.sequence_nr, -1);
  EXPECT_EQ(detail.overload_name, kEmptyName);
  EXPECT_EQ(detail.inputs, kEmptyName);
  EXPECT_EQ(detail.stack, kEmptyStack);
  const RareDetail& rare = RareDetails().Get(detail);
  EXPECT_EQ(rare.forward_thread, 0u);
  EXPECT_EQ(rare.debug_handle, -1);
  EXPECT_EQ(rare.node_id, -1);
  EXPECT_EQ(rare.calls, 1u);
  EXPECT_EQ(Arg().type, ArgType::kInt);
  EXPECT_EQ(Arg().bits, 0u);
  const MemoryRecord memory;
  EXPECT_EQ(memory.track, 0u);
  EXPECT_EQ(memory.event, MemoryEvent::kAllocation);
  EXPECT_EQ(memory.source, MemorySource::kReported);
  EXPECT_EQ(memory.device_type, 0);
  EXPECT_EQ(memory.device_index, -1);
  EXPECT_EQ(memory.time_ns, 0);
  EXPECT_EQ(memory.address, 0u);
  EXPECT_EQ(memory.bytes, 0);
  EXPECT_EQ(memory.total_allocated, 0);
  EXPECT_EQ(memory.total_reserved, 0);
  EXPECT_EQ(memory.stack, kEmptyStack);
  EXPECT_EQ(memory.partner, kNoMemory);
  EXPECT_EQ(AllocationCounts().allocations, 0u);
  EXPECT_EQ(AllocationCounts().frees, 0u);
  EXPECT_EQ(AllocationCounts().allocated_bytes, 0u);
  EXPECT_EQ(CounterSample().time_ns, 0);
  EXPECT_EQ(CounterSample().value, 0);
  EXPECT_EQ(StackSample().time_ns, 0);
  EXPECT_EQ(StackSample().weight_ns, 0);
  EXPECT_EQ(Arg().type, ArgType::kInt);
  EXPECT_EQ(Arg().int_value(), 0);
  const Frame frame;
  EXPECT_EQ(frame.line, 0u);
  EXPECT_EQ(frame.address, 0u);
  EXPECT_FALSE(frame.is_inlined);
  EXPECT_FALSE(frame.is_kernel);
  EXPECT_TRUE(frame.is_resolved);
  const Trace trace{TraceData()};
  EXPECT_EQ(trace.start_ns(), 0);
  EXPECT_EQ(trace.end_ns(), 0);
  EXPECT_EQ(trace.track_begin(0), 0u);
  EXPECT_EQ(trace.memory_sample_interval(), 0);
  EXPECT_EQ(trace.sampling_period_ns(), 0);
  EXPECT_EQ(trace.folded_memory(), nullptr);
  EXPECT_EQ(TraceShard().sampling_period_ns, 0);
  EXPECT_EQ(TraceShard().memory_sample_interval, 0);
  EXPECT_EQ(FoldedHeap().peak_bytes, 0);
  EXPECT_EQ(FoldedMemory().live_moments, 0);
}

TEST(RecordsTest, NumbersThatFilesHaveNeverChange) {
  EXPECT_EQ(kEventInstant, 1);
  EXPECT_EQ(kEventOpen, 2);
  EXPECT_EQ(kEventAsync, 4);
  EXPECT_EQ(kEventModule, 8);
  EXPECT_EQ(kEventRepeated, 16);
  EXPECT_EQ(kEventFolded, 32);
  EXPECT_EQ(kSyncRows, 1'000'000);  // libkineto's rows of synchronisation
  EXPECT_EQ(kNoEvent, 0xFFFF'FFFFu);
  EXPECT_EQ(kNoDetail, 0xFFFF'FFFFu);
  EXPECT_EQ(kNoTrack, 0xFFFF'FFFFu);
  EXPECT_EQ(kNoMemory, 0xFFFF'FFFFu);
}

TEST(RecordsTest, ArgumentsKeepTheirValues) {
  EXPECT_EQ(Arg::Int(NameId{3}, -5).int_value(), -5);
  EXPECT_EQ(Arg::Int(NameId{3}, -5).key, NameId{3});
  EXPECT_FALSE(Arg::Int(NameId{3}, -5).has_text());
  EXPECT_EQ(Arg::Double(NameId{3}, 0.5).double_value(), 0.5);
  EXPECT_FALSE(Arg::Double(NameId{3}, 0.5).has_text());
  EXPECT_EQ(Arg::String(NameId{3}, NameId{4}).string_value(), NameId{4});
  EXPECT_TRUE(Arg::String(NameId{3}, NameId{4}).has_text());
  EXPECT_EQ(Arg::Json(NameId{3}, NameId{4}).type, ArgType::kJson);
  EXPECT_TRUE(Arg::Json(NameId{3}, NameId{4}).has_text());
}

// 1 / (1 - exp(-bytes / interval)).
TEST(RecordsTest, ASampleStandsForTheInverseOfItsProbability) {
  EXPECT_EQ(MemorySampleWeight(100, 0), 1);
  EXPECT_EQ(MemorySampleWeight(100, -1), 1);
  EXPECT_EQ(MemorySampleWeight(0, 100), 1);
  EXPECT_DOUBLE_EQ(MemorySampleWeight(100, 100), 1 / (1 - std::exp(-1.0)));
  EXPECT_DOUBLE_EQ(MemorySampleWeight(-100, 100), 1 / (1 - std::exp(-1.0)));
  EXPECT_DOUBLE_EQ(MemorySampleWeight(50, 0.5), 1);
  EXPECT_NEAR(MemorySampleWeight(1, 1'000), 1'000.5, 0.001);
}

TEST(FoldedMemoryTest, SumsAddUp) {
  BlockSum sum = {.count = 1, .bytes = 10};
  sum += {.count = 2, .bytes = 30};
  EXPECT_EQ(sum, (BlockSum{.count = 3, .bytes = 40}));
  const FoldedHeap heap = {
      .allocated = {5, 50}, .freed = {2, 20}, .replaced = {1, 10}};
  EXPECT_EQ(heap.record_count(), 7);
}

TEST(RareDetailsTest, EqualOnesInTurnAreShared) {
  RareDetails all;
  Detail none;
  Detail first;
  Detail second;
  Detail third;
  all.Set(none, {});
  all.Set(first, {.forward_thread = 1});
  all.Set(second, {.forward_thread = 1});
  all.Set(third, {.calls = 2});
  EXPECT_EQ(all.size(), 2u);
  all.Set(first, {.node_id = 7});
  EXPECT_EQ(all.Get(none), RareDetail());
  EXPECT_EQ(all.Get(first), RareDetail{.node_id = 7});
  EXPECT_EQ(all.Get(second), RareDetail{.forward_thread = 1});
  EXPECT_EQ(all.Get(third), RareDetail{.calls = 2});
  all.Set(first, {});
  EXPECT_EQ(first.rare, kNoRare);
}

// As operations of several forward threads do.
TEST(RareDetailsTest, EqualOnesThatTakeTurnsAreShared) {
  RareDetails all;
  std::vector<Detail> details(1'000);
  for (size_t i = 0; i < details.size(); ++i) {
    all.Set(details[i], {.forward_thread = 1 + i % RareDetails::kMostShared});
  }
  EXPECT_EQ(all.size(), RareDetails::kMostShared);
  for (size_t i = 0; i < details.size(); ++i) {
    EXPECT_EQ(all.Get(details[i]).forward_thread,
              1 + i % RareDetails::kMostShared);
  }
  Detail other;
  for (size_t i = 0; i < RareDetails::kMostShared; ++i) {
    all.Set(other, {.node_id = static_cast<int64_t>(i)});
  }
  all.Set(other, {.forward_thread = 1});  // not looked for so far back
  EXPECT_EQ(all.size(), 2 * RareDetails::kMostShared + 1);
  EXPECT_EQ(all.Get(other), RareDetail{.forward_thread = 1});
}

TEST(RareDetailsTest, DetailsMoveWithTheirs) {
  RareDetails all;
  Detail ours;
  all.Set(ours, {.node_id = 1});
  RareDetails others;
  Detail theirs;
  others.Set(theirs, {.node_id = 2});
  const RareIndex first = all.Append(others);
  theirs.rare = RareDetails::Moved(theirs.rare, first);
  EXPECT_EQ(all.Get(ours).node_id, 1);
  EXPECT_EQ(all.Get(theirs).node_id, 2);
  EXPECT_EQ(RareDetails::Moved(kNoRare, first), kNoRare);
}

}  // namespace
}  // namespace kymo::model
