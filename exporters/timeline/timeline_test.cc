// Flows from forward to backward, and counters of memory.
#include "exporters/timeline/forward_backward.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/timeline/memory_counters.h"
#include "profiler/model/folded_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::timeline {
namespace {

using model::EventIndex;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// "name of track: time value, ..."
std::vector<std::string> Counters(TestTrace t) {
  std::vector<std::string> texts;
  for (const MemoryCounter& counter : MemoryCounters(std::move(t).Build())) {
    texts.push_back(absl::StrCat(counter.name, " of ", counter.track, ":"));
    for (const analysis::CurvePoint& point : counter.points) {
      absl::StrAppend(&texts.back(), " ", point.time, "=", point.value);
    }
  }
  return texts;
}

TEST(MemoryCountersTest, OneForEachProcessSourceAndDevice) {
  using enum model::MemorySource;
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddThread(1, 2, "worker");
  t.AddThread(2, 3, "other");
  const auto add = [&](model::TrackIndex track, model::MemorySource source,
                       int8_t device_type, int8_t device_index, TimeNs time_ns,
                       int64_t total) {
    t.data().memory.push_back({.track = track,
                               .source = source,
                               .device_type = device_type,
                               .device_index = device_index,
                               .time_ns = time_ns,
                               .bytes = 1,
                               .total_allocated = total});
  };
  add(0, kHeap, 0, -1, 10, 100);
  add(0, kReported, 0, -1, 11, 20);
  add(0, kHeap, 0, -1, 30, 300);
  add(0, kReported, 1, 1, 31, 40);
  add(0, kReported, 1, 0, 32, 50);
  add(0, kReported, 1, 2, 33, 0);  // nobody counted
  add(1, kHeap, 0, -1, 20, 200);
  t.data().memory.push_back({.track = 1,
                             .event = model::MemoryEvent::kOutOfMemory,
                             .source = kHeap,
                             .time_ns = 40,
                             .bytes = 1,
                             .total_allocated = 999});
  add(2, kMapped, 0, -1, 5, 7);
  add(2, kMapped, 0, -1, 6, 0);
  EXPECT_THAT(
      Counters(std::move(t)),
      ElementsAre("Memory: cpu of 0: 11=20", "Memory: cuda:0 of 0: 32=50",
                  "Memory: cuda:1 of 0: 31=40",
                  "Memory: heap of 0: 10=100 20=200 30=300",
                  "Memory: mapped of 2: 5=7 6=0"));
}

TEST(MemoryCountersTest, FoldedHeapsHaveTheirCurves) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddThread(2, 2, "other");
  t.AddThread(3, 3, "none");
  auto folded = std::make_shared<model::FoldedMemory>();
  folded->heaps.resize(3);
  folded->heaps[0].live = {{10, 100}, {10, 50}, {20, 0}};
  folded->heaps[1].track = 1;
  folded->heaps[1].live = {{15, 7}};
  folded->heaps[2].track = 2;
  folded->heaps[2].live = {{15, 0}};
  t.data().folded_memory = folded;
  // A record of the heap that was not folded stands in the same curve.
  t.data().memory.push_back({.track = 1,
                             .source = model::MemorySource::kHeap,
                             .time_ns = 12,
                             .bytes = 1,
                             .total_allocated = 3});
  EXPECT_THAT(Counters(std::move(t)),
              ElementsAre("Memory: heap of 0: 10=100 10=50 20=0",
                          "Memory: heap of 1: 12=3 15=7"));
}

class Operations {
 public:
  // A thread of process 1, the current one from now on.
  void AddThread(uint64_t logical_id, int64_t pid = 1) {
    track_ = trace_.AddThread(pid, static_cast<int64_t>(logical_id), "worker");
    trace_.data().tracks[track_].logical_id = logical_id;
  }
  EventIndex Forward(TimeNs start_ns, TimeNs end_ns, int64_t number) {
    return Add(start_ns, end_ns, number, 0);
  }
  EventIndex Backward(TimeNs start_ns, TimeNs end_ns, int64_t number,
                      uint64_t forward_thread) {
    return Add(start_ns, end_ns, number, forward_thread);
  }
  model::Trace Build() && { return std::move(trace_).Build(); }

 private:
  EventIndex Add(TimeNs start_ns, TimeNs end_ns, int64_t number,
                 uint64_t forward_thread) {
    const EventIndex event = trace_.AddRange(track_, "op", start_ns, end_ns);
    trace_.Describe(0);
    trace_.data().details.back().sequence_nr = number;
    trace_.SetRare({.forward_thread = forward_thread});
    return event;
  }

  TestTrace trace_;
  model::TrackIndex track_ = 0;
};

// Starts and ends of flows: {forward, backward} by id.
std::map<uint32_t, std::pair<EventIndex, EventIndex>> Links(
    const model::Trace& trace) {
  std::map<uint32_t, std::pair<EventIndex, EventIndex>> links;
  const std::vector<FlowEnd> flows = FindForwardBackwardFlows(trace);
  for (EventIndex event = 0; event < flows.size(); ++event) {
    const FlowEnd end = flows[event];
    if (end.id == 0) continue;
    (end.is_start ? links[end.id].first : links[end.id].second) = event;
  }
  return links;
}

TEST(ForwardBackwardTest, InnermostForwardGoesToInnermostBackward) {
  Operations o;
  o.AddThread(1);
  o.Forward(0, 50, 0);
  const EventIndex inner = o.Forward(10, 40, 0);
  const EventIndex next = o.Forward(60, 70, 1);
  o.Backward(100, 150, 1, 1);
  const EventIndex next_backward = o.Backward(110, 140, 1, 1);
  o.Backward(160, 180, 0, 1);
  const EventIndex backward = o.Backward(165, 180, 0, 1);
  EXPECT_THAT(Links(std::move(o).Build()),
              UnorderedElementsAre(Pair(1, Pair(next, next_backward)),
                                   Pair(2, Pair(inner, backward))));
}

TEST(ForwardBackwardTest, ThreadsAndProcessesCountNumbersOfTheirOwn) {
  Operations o;
  o.AddThread(1);
  const EventIndex first = o.Forward(0, 10, 0);
  o.AddThread(2);
  const EventIndex second = o.Forward(0, 10, 0);
  o.AddThread(3);
  const EventIndex back_to_second = o.Backward(20, 30, 0, 2);
  const EventIndex back_to_first = o.Backward(40, 50, 0, 1);
  o.Backward(60, 70, 0, 1);  // comes too late
  o.Backward(80, 90, 7, 1);  // nobody's
  o.AddThread(1, /*pid=*/2);
  o.Backward(20, 30, 0, 2);
  EXPECT_THAT(Links(std::move(o).Build()),
              UnorderedElementsAre(Pair(1, Pair(second, back_to_second)),
                                   Pair(2, Pair(first, back_to_first))));
}

TEST(ForwardBackwardTest, NothingWithoutNumbersOrThreads) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "plain", 0, 10);
  t.AddRange(0, "described", 20, 30);
  t.Describe(5);
  EXPECT_THAT(FindForwardBackwardFlows(std::move(t).Build()), IsEmpty());
  Operations o;
  o.AddThread(0);  // its logical id is not known
  o.Forward(0, 10, 0);
  o.Backward(20, 30, 0, 1);
  EXPECT_THAT(FindForwardBackwardFlows(std::move(o).Build()), IsEmpty());
}

TEST(ForwardBackwardTest, AsynchronousOperationsTakeNoPart) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.data().tracks[0].logical_id = 1;
  t.AddRange(0, "forward", 0, 10);
  t.Describe(0);
  t.data().details.back().sequence_nr = 0;
  t.AddRange(0, "backward", 20, 30, model::ActivityType::kCpuOp,
             model::kEventAsync);
  t.Describe(0);
  t.data().details.back().sequence_nr = 0;
  t.SetRare({.forward_thread = 1});
  EXPECT_THAT(FindForwardBackwardFlows(std::move(t).Build()), IsEmpty());
}

}  // namespace
}  // namespace kymo::timeline
