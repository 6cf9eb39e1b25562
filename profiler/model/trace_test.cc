#include "profiler/model/trace.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/model/thread_states.h"

namespace kymo::model {
namespace {

TraceData OneTrack() {
  TraceData data;
  data.tracks.push_back({.pid = 1, .id = 1});
  auto add = [&](TimeNs start, TimeNs end, EventIndex parent) {
    data.start.push_back(start);
    data.end.push_back(end);
    data.parent.push_back(parent);
    data.name.push_back(kEmptyName);
    data.track.push_back(0);
    data.detail.push_back(kNoDetail);
    data.type.push_back(ActivityType::kCpuOp);
    data.scope.push_back(RecordScope::kFunction);
    data.flags.push_back(0);
  };
  add(0, 10, kNoEvent);
  add(2, 8, 0);
  data.track_begin = {0, 2};
  return data;
}

TEST(ValidateTraceTest, AcceptsANestedTrack) {
  EXPECT_TRUE(ValidateTrace(Trace(OneTrack())).ok());
}

TEST(TraceTest, FindsProcesses) {
  TraceData data = OneTrack();
  data.processes = {
      {.pid = -1}, {.pid = 3}, {.pid = 3, .start_ns = 1}, {.pid = 7}};
  const Trace trace(std::move(data));
  EXPECT_EQ(trace.FindProcess(-1), &trace.processes()[0]);
  EXPECT_EQ(trace.FindProcess(3), &trace.processes()[2]);
  EXPECT_EQ(trace.FindProcess(7), &trace.processes()[3]);
  for (const int64_t pid : {-2, 0, 4, 8}) {
    EXPECT_EQ(trace.FindProcess(pid), nullptr) << pid;
  }
}

// The rule that a change breaks, and where; "" if it breaks none.
template <typename Change>
std::string Broken(const Change& change) {
  TraceData data = OneTrack();
  change(data);
  const absl::Status status = ValidateTrace(Trace(std::move(data)));
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  return std::string(status.message()).substr(sizeof("invalid trace: ") - 1);
}

TEST(ValidateTraceTest, RejectsColumnsThatDoNotFit) {
  using D = TraceData;
  const std::string differ = "columns differ in length (at index 1)";
  EXPECT_EQ(Broken([](D& d) { d.end.pop_back(); }), differ);
  EXPECT_EQ(Broken([](D& d) { d.name.pop_back(); }), differ);
  EXPECT_EQ(Broken([](D& d) { d.track.pop_back(); }), differ);
  EXPECT_EQ(Broken([](D& d) { d.parent.pop_back(); }), differ);
  EXPECT_EQ(Broken([](D& d) { d.detail.pop_back(); }), differ);
  EXPECT_EQ(Broken([](D& d) { d.type.pop_back(); }), differ);
  EXPECT_EQ(Broken([](D& d) { d.scope.pop_back(); }), differ);
  EXPECT_EQ(Broken([](D& d) { d.flags.pop_back(); }), differ);
  const std::string cover = "track_begin does not cover the events (at index ";
  EXPECT_EQ(Broken([](D& d) { d.track_begin = {0, 1}; }), cover + "2)");
  EXPECT_EQ(Broken([](D& d) { d.track_begin = {1, 2}; }), cover + "2)");
  EXPECT_EQ(Broken([](D& d) { d.track_begin = {0, 1, 2}; }), cover + "3)");
  EXPECT_EQ(Broken([](D& d) {
              d.tracks.resize(3);
              d.track_begin = {0, 2, 1, 2};
            }),
            "track_begin is not sorted (at index 1)");
}

TEST(ValidateTraceTest, RejectsEventsThatBreakARule) {
  using D = TraceData;
  EXPECT_EQ(Broken([](D& d) { d.track[1] = 1; }),
            "event is on another track (at index 1)");
  EXPECT_EQ(Broken([](D& d) { d.end[0] = -1; }),
            "end before start (at index 0)");
  EXPECT_EQ(Broken([](D& d) { d.end[1] = 2; }), "");
  EXPECT_EQ(Broken([](D& d) { d.name[0] = NameId{1}; }),
            "name out of range (at index 0)");
  EXPECT_EQ(Broken([](D& d) { d.detail[0] = 0; }),
            "detail out of range (at index 0)");
  EXPECT_EQ(Broken([](D& d) {
              d.details.resize(1);
              d.detail[0] = 0;
            }),
            "");
  const std::string calls = "folded event without calls (at index 1)";
  EXPECT_EQ(Broken([](D& d) { d.flags[1] = kEventFolded; }), calls);
  for (const uint32_t count : {0, 1}) {
    EXPECT_EQ(Broken([&](D& d) {
                d.flags[1] = kEventFolded;
                d.rare_details.Set(d.details.emplace_back(), {.calls = count});
                d.detail[1] = 0;
              }),
              count == 0 ? calls : "");
  }
  EXPECT_EQ(Broken([](D& d) { d.start[1] = -1; }),
            "events of a track are not in start order (at index 1)");
  EXPECT_EQ(Broken([](D& d) { d.start[1] = 0; }), "");
  EXPECT_EQ(Broken([](D& d) { d.parent[1] = 1; }),
            "parent is not an earlier event of the track (at index 1)");
  EXPECT_EQ(Broken([](D& d) {
              d.tracks.resize(2);
              d.track_begin = {0, 1, 2};
              d.track[1] = 1;
            }),
            "parent is not an earlier event of the track (at index 1)");
  for (const uint8_t flag : {kEventInstant, kEventAsync}) {
    EXPECT_EQ(Broken([&](D& d) { d.flags[0] = flag; }),
              "parent is an instant or asynchronous (at index 1)");
  }
  EXPECT_EQ(Broken([](D& d) { d.flags[0] = kEventOpen; }), "");
  EXPECT_EQ(Broken([](D& d) { d.end[1] = 11; }),
            "child ends after its parent (at index 1)");
  EXPECT_EQ(Broken([](D& d) { d.end[1] = 10; }), "");
}

TEST(ValidateTraceTest, RejectsSiblingsThatOverlap) {
  const auto make_siblings = [](TraceData& d) { d.parent[1] = kNoEvent; };
  EXPECT_EQ(Broken(make_siblings), "siblings overlap (at index 1)");
  EXPECT_EQ(Broken([&](TraceData& d) {
              make_siblings(d);
              d.end[0] = 3;
            }),
            "siblings overlap (at index 1)");
  EXPECT_EQ(Broken([&](TraceData& d) {
              make_siblings(d);
              d.end[0] = 2;
            }),
            "");
  for (const size_t event : {0, 1}) {
    EXPECT_EQ(Broken([&](TraceData& d) {
                make_siblings(d);
                d.flags[event] = kEventAsync;
              }),
              "");
  }
  // Children of one parent, the second of two tracks.
  const auto add_child = [](TraceData& d, TimeNs start_ns) {
    d.tracks.insert(d.tracks.begin(), Track());
    d.track_begin.insert(d.track_begin.begin(), 0);
    d.track = {1, 1, 1};
    d.track_begin[2] = 3;
    d.start.push_back(start_ns);
    d.end.push_back(9);
    d.parent.push_back(0);
    d.name.push_back(kEmptyName);
    d.detail.push_back(kNoDetail);
    d.type.push_back(ActivityType::kCpuOp);
    d.scope.push_back(RecordScope::kFunction);
    d.flags.push_back(0);
  };
  EXPECT_EQ(Broken([&](TraceData& d) { add_child(d, 7); }),
            "siblings overlap (at index 2)");
  EXPECT_EQ(Broken([&](TraceData& d) { add_child(d, 8); }), "");
}

// Adds `good` records, and then one that a change has made bad.
template <typename Record, typename Change>
std::string BrokenRecord(std::vector<Record> TraceData::*list,
                         const Record& good, const Change& change) {
  return Broken([&](TraceData& d) {
    (d.*list).push_back(good);
    Record bad = good;
    change(bad);
    (d.*list).push_back(bad);
  });
}

TEST(ValidateTraceTest, RejectsTablesThatBreakARule) {
  const auto detail = [](auto change) {
    return BrokenRecord(&TraceData::details, Detail(), change);
  };
  EXPECT_EQ(detail([](Detail& d) { d.args_begin = 1; }),
            "arguments out of range (at index 1)");
  EXPECT_EQ(detail([](Detail& d) { d.args_end = 1; }),
            "arguments out of range (at index 1)");
  const std::string name =
      "detail's name, inputs or stack out of range (at index 1)";
  EXPECT_EQ(detail([](Detail& d) { d.overload_name = NameId{1}; }), name);
  EXPECT_EQ(detail([](Detail& d) { d.inputs = NameId{1}; }), name);
  EXPECT_EQ(detail([](Detail& d) { d.stack = StackId{1}; }), name);
  EXPECT_EQ(detail([](Detail& d) { d.rare = 0; }),
            "detail's rare fields out of range (at index 1)");
  EXPECT_EQ(detail([](Detail&) {}), "");

  const auto sample = [](auto change) {
    return BrokenRecord(&TraceData::samples, {.time_ns = 5}, change);
  };
  const std::string place = "sample's track or stack out of range (at index 1)";
  EXPECT_EQ(sample([](StackSample& s) { s.track = 1; }), place);
  EXPECT_EQ(sample([](StackSample& s) { s.stack = StackId{1}; }), place);
  EXPECT_EQ(sample([](StackSample& s) { s.time_ns = 4; }),
            "samples are not sorted by track and time (at index 1)");
  EXPECT_EQ(sample([](StackSample&) {}), "");

  const auto sum = [](auto change) {
    return BrokenRecord(&TraceData::sample_sums, {.count = 1}, change);
  };
  const std::string sum_place =
      "track or stack of a sum of samples out of range (at index 1)";
  EXPECT_EQ(sum([](SampleSum& s) { s.track = 1; }), sum_place);
  EXPECT_EQ(sum([](SampleSum& s) { s.stack = StackId{1}; }), sum_place);
  EXPECT_EQ(sum([](SampleSum&) {}),
            "sums of samples are not sorted by track and stack (at index 1)");

  const auto memory = [](auto change) {
    return Broken([&](TraceData& d) {
      d.memory.push_back({.time_ns = 5, .bytes = 1});
      d.memory.push_back({.time_ns = 5, .bytes = 1});
      change(d.memory[1]);
    });
  };
  const std::string where =
      "memory record's track or stack out of range (at index 1)";
  EXPECT_EQ(memory([](MemoryRecord& m) { m.track = 1; }), where);
  EXPECT_EQ(memory([](MemoryRecord& m) { m.stack = StackId{1}; }), where);
  EXPECT_EQ(memory([](MemoryRecord& m) { m.time_ns = 4; }),
            "memory records are not sorted by track and time (at index 1)");
  EXPECT_EQ(
      memory([](MemoryRecord& m) { m.event = MemoryEvent::kFreeOfUnknown; }),
      "memory record whose size was not found (at index 1)");
  EXPECT_EQ(memory([](MemoryRecord& m) { m.partner = 2; }),
            "memory record's partner out of range (at index 1)");
  EXPECT_EQ(memory([](MemoryRecord& m) { m.partner = 0; }), "");
  EXPECT_EQ(BrokenRecord(&TraceData::counters, CounterSample(),
                         [](CounterSample& c) { c.track = 1; }),
            "counter's track out of range (at index 1)");
}

TEST(ValidateTraceTest, RejectsThreadTimesThatDoNotAddUp) {
  const auto times = [](auto change) {
    return Broken([&](TraceData& d) {
      d.tracks.resize(2);
      d.track_begin = {0, 2, 2};
      auto states = std::make_shared<ThreadStates>();
      for (const TrackIndex track : {0, 1}) {
        states->threads.push_back({.track = track,
                                   .wall_ns = 100,
                                   .on_cpu_ns = 10,
                                   .runnable_ns = 20,
                                   .unknown_ns = 30,
                                   .open_wait_ns = 40});
      }
      change(states->threads[1]);
      d.thread_states = std::move(states);
    });
  };
  EXPECT_EQ(times([](ThreadTimes&) {}), "");
  EXPECT_EQ(times([](ThreadTimes& t) { t.track = 2; }),
            "thread times' track out of range (at index 1)");
  EXPECT_EQ(times([](ThreadTimes& t) { t.track = 0; }),
            "thread times are not sorted by track (at index 1)");
  const std::string sum = "thread times do not add up (at index 1)";
  EXPECT_EQ(times([](ThreadTimes& t) { ++t.open_wait_ns; }), sum);
  EXPECT_EQ(times([](ThreadTimes& t) { ++t.on_cpu_ns; }), sum);
  EXPECT_EQ(times([](ThreadTimes& t) { t.on_cpu_ns = -1; }), sum);
  EXPECT_EQ(times([](ThreadTimes& t) { t.runnable_ns = -1; }), sum);
  EXPECT_EQ(times([](ThreadTimes& t) { t.unknown_ns = -1; }), sum);
  EXPECT_EQ(times([](ThreadTimes& t) { t.open_wait_ns = -1; }), sum);
}

std::string BrokenStates(const std::function<void(ThreadStates&)>& change) {
  return Broken([&](TraceData& d) {
    d.tracks.resize(2);
    d.track_begin = {0, 2, 2};
    auto states = std::make_shared<ThreadStates>();
    states->waits = {{.begin_ns = 10, .duration_ns = 5},
                     {.begin_ns = 15, .duration_ns = 5, .runnable_ns = 5},
                     {.track = 1, .begin_ns = 12, .duration_ns = 5}};
    states->short_waits = {{.count = 1}, {.count = 2, .duration_ns = 3}};
    change(*states);
    d.thread_states = std::move(states);
  });
}

TEST(ValidateTraceTest, RejectsBrokenWaits) {
  const auto wait = [](auto change) {
    return BrokenStates([&](ThreadStates& s) { change(s.waits[1]); });
  };
  EXPECT_EQ(wait([](Wait&) {}), "");
  const std::string ids = "wait's kind or ids out of range (at index 1)";
  EXPECT_EQ(wait([](Wait& w) { w.track = 2; }), ids);
  EXPECT_EQ(wait([](Wait& w) { w.waker = 2; }), ids);
  EXPECT_EQ(wait([](Wait& w) { w.waker_stack = StackId{9}; }), ids);
  EXPECT_EQ(wait([](Wait& w) { w.holder = 2; }), ids);
  EXPECT_EQ(wait([](Wait& w) { w.holder_stack = StackId{9}; }), ids);
  EXPECT_EQ(wait([](Wait& w) { w.stack = StackId{1}; }), ids);
  EXPECT_EQ(wait([](Wait& w) { w.object_name = NameId{99}; }), ids);
  EXPECT_EQ(wait([](Wait& w) { w.kind = WaitKind{99}; }), ids);
  const std::string times = "wait's times do not add up (at index 1)";
  EXPECT_EQ(wait([](Wait& w) { w.runnable_ns = 6; }), times);
  EXPECT_EQ(wait([](Wait& w) { w.runnable_ns = -2; }), times);
  EXPECT_EQ(wait([](Wait& w) {
              w.duration_ns = -1;
              w.runnable_ns = -1;
            }),
            times);
  EXPECT_EQ(wait([](Wait& w) { w.begin_ns = 14; }),
            "waits overlap (at index 1)");
  EXPECT_EQ(wait([](Wait& w) { w.begin_ns = 9; }),
            "waits are not sorted by track and begin (at index 1)");
}

TEST(ValidateTraceTest, RejectsBrokenShortWaits) {
  const auto sum = [](auto change) {
    return BrokenStates([&](ThreadStates& s) { change(s.short_waits); });
  };
  const std::string ids = "short waits' kind or ids out of range (at index 1)";
  EXPECT_EQ(sum([](auto& s) { s[1].track = 2; }), ids);
  EXPECT_EQ(sum([](auto& s) { s[1].kind = WaitKind{99}; }), ids);
  const std::string times = "short waits' times do not add up (at index 1)";
  EXPECT_EQ(sum([](auto& s) { s[1].count = 0; }), times);
  EXPECT_EQ(sum([](auto& s) { s[1].longest_ns = 4; }), times);
  EXPECT_EQ(sum([](auto& s) { s[1].longest_ns = -1; }), times);
  EXPECT_EQ(sum([](auto& s) { s[0].track = 1; }),
            "short waits are not sorted by track (at index 1)");
}

TEST(ValidateTraceTest, RecordsOfALaterTrackMayBeEarlier) {
  for (const bool is_sorted : {true, false}) {
    const std::string samples = Broken([&](TraceData& d) {
      d.tracks.resize(2);
      d.track_begin = {0, 2, 2};
      const TrackIndex first = is_sorted ? 0 : 1;
      d.samples = {{.track = first, .time_ns = 5},
                   {.track = 1 - first, .time_ns = 4}};
    });
    EXPECT_EQ(samples.empty(), is_sorted) << samples;
    const std::string memory = Broken([&](TraceData& d) {
      d.tracks.resize(2);
      d.track_begin = {0, 2, 2};
      const TrackIndex first = is_sorted ? 0 : 1;
      d.memory.push_back({.track = first, .time_ns = 5});
      d.memory.push_back({.track = 1 - first, .time_ns = 6});
    });
    EXPECT_EQ(memory.empty(), is_sorted) << memory;
  }
}

}  // namespace
}  // namespace kymo::model
