#include "profiler/model/trace_slice.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/event_calls.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/thread_states.h"

namespace kymo::model {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

struct Event {
  TrackIndex track;
  const char* name;
  TimeNs start_ns;
  TimeNs end_ns;
  EventIndex parent = kNoEvent;
};

// Two tracks. On the first, `outer` and `inner` enclose others; on the second,
// parents come after events of the first track.
Trace TwoTracks() {
  TraceData data;
  data.start_ns = 0;
  data.end_ns = 100;
  data.tracks.resize(2);
  const std::vector<Event> events = {
      {0, "outer", 5, 90},    {0, "inner", 10, 50, 0}, {0, "leaf", 20, 40, 1},
      {0, "late", 60, 80, 0}, {1, "other", 10, 100},   {1, "child", 40, 60, 4}};
  for (const Event& event : events) {
    data.start.push_back(event.start_ns);
    data.end.push_back(event.end_ns);
    data.name.push_back(data.strings.Intern(event.name));
    data.track.push_back(event.track);
    data.parent.push_back(event.parent);
    data.detail.push_back(kNoDetail);
    data.type.push_back(event.track == 0 ? ActivityType::kCpuOp
                                         : ActivityType::kUserAnnotation);
    data.scope.push_back(event.track == 0 ? RecordScope::kFunction
                                          : RecordScope::kUserScope);
    data.flags.push_back(event.track == 0 ? kEventModule : 0);
  }
  data.track_begin = {0, 4, 6};
  // Arguments of `inner` and `late`, which are not in the order of the events.
  const NameId key = data.strings.Intern("key");
  data.args = {Arg::Int(key, 1), Arg::Int(key, 2), Arg::Int(key, 3)};
  data.details = {{.correlation_id = 7, .args_begin = 2, .args_end = 3},
                  {.correlation_id = 8, .args_begin = 0, .args_end = 2}};
  data.detail[1] = 1;
  data.detail[3] = 0;
  for (const TimeNs time_ns : {19, 20, 59, 60}) {
    data.counters.push_back({.name = key, .time_ns = time_ns, .value = 1});
    data.samples.push_back({.time_ns = time_ns, .weight_ns = 1});
    data.memory.push_back({.time_ns = time_ns, .bytes = 1});
  }
  data.sample_sums.push_back({.count = 3, .weight_ns = 5});
  data.memory[1].partner = 2;
  data.memory[2].partner = 1;
  data.memory[0].partner = 3;
  data.memory[3].partner = 0;
  data.memory.push_back({.track = 1, .time_ns = 30, .bytes = 1});
  data.processes.push_back({.pid = 7});
  data.metadata.push_back({.key = key, .json_value = key});
  data.ledger.Add(Loss::kSamplesLost, 3);
  data.memory_sample_interval = 64;
  data.allocation_counts.push_back({.allocations = 5});
  auto states = std::make_shared<ThreadStates>();
  states->cpu_count = 2;
  states->kymo_cpu_ns = 30;
  states->cpu_limit = {.quota_ns = 50, .period_ns = 100};
  states->min_wait_ns = 4;
  states->threads = {
      {.track = 0, .wall_ns = 9, .begin_ns = 1, .end_ns = 70, .creator = 1}};
  states->waits = {{.begin_ns = 19, .duration_ns = 1},
                   {.begin_ns = 20, .duration_ns = 10},
                   {.begin_ns = 59, .duration_ns = 1},
                   {.begin_ns = 60}};
  states->short_waits = {{.count = 7}};
  data.thread_states = std::move(states);
  data.sampling_period_ns = 10;
  return Trace(std::move(data));
}

// "track: name start-end in parent #correlation key values"
std::vector<std::string> Events(const Trace& trace) {
  EXPECT_TRUE(ValidateTrace(trace).ok()) << ValidateTrace(trace);
  std::vector<std::string> texts;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    std::string text = std::to_string(trace.track()[i]) + ": " +
                       std::string(trace.EventName(i)) + " " +
                       std::to_string(trace.start()[i]) + "-" +
                       std::to_string(trace.end()[i]);
    const EventIndex parent = trace.parent()[i];
    if (parent != kNoEvent) {
      text += " in " + std::string(trace.EventName(parent));
    }
    if (const Detail* detail = trace.detail(i)) {
      text += " #" + std::to_string(detail->correlation_id);
    }
    for (const Arg& arg : trace.args(i)) {
      text += " " + std::to_string(arg.int_value());
    }
    EXPECT_EQ(trace.flags()[i], trace.track()[i] == 0 ? kEventModule : 0);
    EXPECT_EQ(trace.type()[i], trace.track()[i] == 0
                                   ? ActivityType::kCpuOp
                                   : ActivityType::kUserAnnotation);
    EXPECT_EQ(trace.scope()[i], trace.track()[i] == 0
                                    ? RecordScope::kFunction
                                    : RecordScope::kUserScope);
    texts.push_back(std::move(text));
  }
  return texts;
}

template <typename Records>
std::vector<TimeNs> Times(const Records& records) {
  std::vector<TimeNs> times;
  for (const auto& record : records) times.push_back(record.time_ns);
  return times;
}

TEST(TraceSliceTest, AWindowHasWhatBeginsInItAndWhatIsAround) {
  const Trace whole = TwoTracks();
  const TraceSlice slice = SliceTrace(whole, 20, 60);
  EXPECT_THAT(Events(slice.trace),
              ElementsAre("0: outer 5-90", "0: inner 10-50 in outer #8 1 2",
                          "0: leaf 20-40 in inner", "1: other 10-100",
                          "1: child 40-60 in other"));
  EXPECT_EQ(slice.repeated_events, 3u);
  EXPECT_THAT(Times(slice.trace.counters()), ElementsAre(20, 59));
  EXPECT_THAT(Times(slice.trace.samples()), ElementsAre(20, 59));
  EXPECT_TRUE(slice.trace.sample_sums().empty());
  EXPECT_THAT(Times(slice.trace.memory()), ElementsAre(20, 59, 30));
  EXPECT_THAT(
      slice.trace.thread_states()->waits,
      ElementsAre(Field(&Wait::begin_ns, 20), Field(&Wait::begin_ns, 59)));
  EXPECT_EQ(slice.trace.memory()[0].partner, 1u);
  EXPECT_EQ(slice.trace.memory()[1].partner, 0u);
  EXPECT_EQ(slice.trace.memory()[2].partner, kNoMemory);
  // The window holds the ranges that it repeats.
  EXPECT_EQ(slice.trace.start_ns(), 5);
  EXPECT_EQ(slice.trace.end_ns(), 100);
}

TEST(TraceSliceTest, WindowsDivideATrace) {
  const Trace whole = TwoTracks();
  const TraceSlice first = SliceTrace(whole, -10, 20);
  EXPECT_THAT(Events(first.trace),
              ElementsAre("0: outer 5-90", "0: inner 10-50 in outer #8 1 2",
                          "1: other 10-100"));
  EXPECT_EQ(first.repeated_events, 0u);
  ASSERT_EQ(first.trace.sample_sums().size(), 1u);
  EXPECT_EQ(first.trace.sample_sums()[0].count, 3u);
  EXPECT_EQ(first.trace.start_ns(), 0);
  EXPECT_THAT(Times(first.trace.memory()), ElementsAre(19));
  EXPECT_EQ(first.trace.memory()[0].partner, kNoMemory);
  const TraceSlice last = SliceTrace(whole, 60, 200);
  EXPECT_THAT(Events(last.trace),
              ElementsAre("0: outer 5-90", "0: late 60-80 in outer #7 3"));
  EXPECT_EQ(last.repeated_events, 1u);
  EXPECT_THAT(Times(last.trace.memory()), ElementsAre(60));
  EXPECT_EQ(last.trace.end_ns(), 100);
  const TraceSlice none = SliceTrace(whole, 200, 300);
  EXPECT_THAT(Events(none.trace), IsEmpty());
  EXPECT_EQ(none.trace.start_ns(), 200);
  EXPECT_EQ(none.trace.end_ns(), 200);
}

TEST(TraceSliceTest, ChosenEventsFindTheirParents) {
  const Trace whole = TwoTracks();
  const std::vector<uint8_t> events = {1, 0, 1, 1, 0, 1};
  const Trace part = SelectEvents(whole, events, {true, true},
                                  [](TrackIndex track, TimeNs time_ns) {
                                    return track == 1 || time_ns == 59;
                                  });
  EXPECT_THAT(Events(part),
              ElementsAre("0: outer 5-90", "0: leaf 20-40 in outer",
                          "0: late 60-80 in outer #7 3", "1: child 40-60"));
  EXPECT_THAT(Times(part.memory()), ElementsAre(59, 30));
  EXPECT_EQ(part.memory()[0].partner, kNoMemory);
  EXPECT_EQ(part.start_ns(), 0);
  EXPECT_EQ(part.end_ns(), 100);
}

TEST(TraceSliceTest, ChosenTracksHaveTheirRecordsAndSums) {
  const auto keeps_all = [](TrackIndex, TimeNs) { return true; };
  const std::vector<uint8_t> events(6, 1);
  const Trace whole = TwoTracks();
  const Trace both = SelectEvents(whole, events, {true, true}, keeps_all);
  EXPECT_EQ(both.thread_states()->threads, whole.thread_states()->threads);
  EXPECT_EQ(both.allocation_counts().size(), 1u);
  EXPECT_EQ(both.memory().size(), 5u);

  const Trace first = SelectEvents(whole, events, {true, false}, keeps_all);
  EXPECT_THAT(Times(first.memory()), ElementsAre(19, 20, 59, 60));
  EXPECT_EQ(first.allocation_counts().size(), 1u);
  const ThreadStates& states = *first.thread_states();
  EXPECT_EQ(states.cpu_count, 2u);
  EXPECT_EQ(states.kymo_cpu_ns, 30);
  EXPECT_EQ(states.usable_cpus(), 0.5);
  EXPECT_EQ(states.waits.size(), 4u);
  EXPECT_EQ(states.short_waits.size(), 1u);
  // Without all threads, nobody knows who made one.
  EXPECT_EQ(states.threads, (std::vector<ThreadTimes>{{.wall_ns = 9}}));

  const Trace second = SelectEvents(whole, events, {false, true}, keeps_all);
  EXPECT_THAT(Times(second.memory()), ElementsAre(30));
  EXPECT_THAT(second.allocation_counts(), IsEmpty());
  EXPECT_THAT(second.thread_states()->waits, IsEmpty());
  EXPECT_THAT(second.thread_states()->short_waits, IsEmpty());
  EXPECT_THAT(second.thread_states()->threads, IsEmpty());
}

TEST(TraceSliceTest, WhatBelongsToTheWholeRecordingIsInEveryPart) {
  const Trace whole = TwoTracks();
  const Trace part = SliceTrace(whole, 200, 300).trace;
  EXPECT_EQ(part.strings().size(), whole.strings().size());
  EXPECT_EQ(part.Name(NameId{1}), "outer");
  EXPECT_EQ(part.processes().size(), 1u);
  EXPECT_EQ(part.tracks().size(), 2u);
  EXPECT_EQ(part.metadata().size(), 1u);
  EXPECT_EQ(part.ledger().Get(Loss::kSamplesLost), 3u);
  EXPECT_EQ(part.memory_sample_interval(), 64);
  EXPECT_EQ(part.allocation_counts().size(), 1u);
  const ThreadStates& states = *part.thread_states();
  EXPECT_EQ(states.cpu_count, 2u);
  EXPECT_EQ(states.usable_cpus(), 0.5);
  EXPECT_EQ(states.min_wait_ns, 4);
  // A part of the waits does not tell how a life was spent.
  EXPECT_EQ(states.threads, (std::vector<ThreadTimes>{{.wall_ns = 9}}));
  EXPECT_EQ(states.short_waits, whole.thread_states()->short_waits);
  EXPECT_EQ(part.sampling_period_ns(), 10);
}

// Sums belong to the whole recording, as do counts of allocations.
TEST(TraceSliceTest, EveryPartHasTheSumsOfTheHeap) {
  TraceData data;
  data.end_ns = 100;
  data.track_begin = {0};
  data.folded_memory = std::make_shared<FoldedMemory>(
      FoldedMemory{.heaps = {FoldedHeap{.allocated = {3, 30}}}, .live = {}});
  const Trace whole(std::move(data));
  const auto keeps_all = [](TrackIndex, TimeNs) { return true; };
  EXPECT_EQ(SelectEvents(whole, {}, {}, keeps_all).folded_memory(),
            whole.folded_memory());
  EXPECT_EQ(SliceTrace(whole, 50, 60).trace.folded_memory(),
            whole.folded_memory());
}

TEST(EventCallsTest, OnlyFoldedEventsStandForMore) {
  TraceData data = TwoTracks().Release();
  data.rare_details.Set(data.details[1], {.calls = 9});
  data.flags[3] |= kEventFolded;
  data.rare_details.Set(data.details[0], {.calls = 4});
  const Trace trace(std::move(data));
  EXPECT_EQ(Calls(trace, 0), 1u);
  EXPECT_EQ(Calls(trace, 1), 1u);
  EXPECT_EQ(Calls(trace, 3), 4u);
}

}  // namespace
}  // namespace kymo::model
