#include "exporters/timeline/forward_backward.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/chrome/test_chrome.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::EventIndex;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using timeline::FindForwardBackwardFlows;
using timeline::FlowEnd;

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
    trace_.data().details.back().forward_thread = forward_thread;
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
  t.data().details.back().forward_thread = 1;
  EXPECT_THAT(FindForwardBackwardFlows(std::move(t).Build()), IsEmpty());
}

TEST(ForwardBackwardTest, FlowEventsAreThoseOfPyTorch) {
  const auto expected = ReadTestJson("pytorch_flows.json");
  Operations o;
  o.AddThread(1);
  for (const JsonMap& op : Events(expected, "X")) {
    const auto& args = op.at("args").struct_value().fields();
    const TimeNs start_ns = std::llround(1'000 * Number(op, "ts"));
    const TimeNs end_ns = start_ns + std::llround(1'000 * Number(op, "dur"));
    const auto number =
        static_cast<int64_t>(args.at("Sequence number").number_value());
    o.Backward(start_ns, end_ns, number,
               static_cast<uint64_t>(args.at("Fwd thread id").number_value()));
  }
  const auto json = ParseJson(ChromeText(std::move(o).Build()));
  for (const char* phase : {"s", "f"}) {
    const std::vector<JsonMap> ours = Events(json, phase);
    const std::vector<JsonMap> theirs = Events(expected, phase);
    ASSERT_EQ(ours.size(), theirs.size());
    EXPECT_EQ(ours.size(), 7u);
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(Texts(ours[i]), Texts(theirs[i]));
    }
  }
}

}  // namespace
}  // namespace kymo
