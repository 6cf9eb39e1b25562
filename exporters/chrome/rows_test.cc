// The rows of a file, and the records that its events do not keep.
//
// Long, because a row is made of each kind of record.
#include "exporters/chrome/rows.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/chrome/exact_records.h"
#include "exporters/chrome/test_chrome.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"
#include "profiler/plugin/sink.h"
#include "tests/support/test_trace.h"

namespace kymo::chrome {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "pid/tid @sort_index name"; "-" for a track without a row.
std::vector<std::string> Texts(const std::vector<Row>& rows) {
  std::vector<std::string> texts;
  for (const Row& row : rows) {
    texts.push_back(row.is_used ? absl::StrCat(row.pid, "/", row.tid, " @",
                                               row.sort_index, " ", row.name)
                                : "-");
    if (row.is_used) {
      EXPECT_EQ(row.ids, absl::StrCat(",\"pid\":", row.pid,
                                      ",\"tid\":", row.tid, ",\"ts\":"));
    }
  }
  return texts;
}

std::vector<std::string> Processes(const Rows& rows) {
  std::vector<std::string> texts;
  for (const auto& [pid, sort_index, name, label] : rows.processes) {
    texts.push_back(
        absl::StrCat(pid, " @", sort_index, " ", name, ": ", label));
  }
  return texts;
}

TEST(RowsTest, IdsAreKeptIfViewersCanReadThem) {
  constexpr int64_t kMost = 2'147'483'647;
  TestTrace t;
  for (const int64_t id : {int64_t{-1}, int64_t{0}, kMost, kMost + 1}) {
    const auto track = t.AddThread(id, id, "t");
    t.AddRange(track, "f", 0, 1);
    t.AddThread(id, id, "t");  // a lane without events has no row
  }
  const auto lane = t.AddThread(kMost + 1, kMost + 1, "t");
  t.AddRange(lane, "f", 0, 1);
  const Rows rows(std::move(t).Build());
  EXPECT_THAT(
      Texts(rows.tracks),
      ElementsAre("1000000000/1000000002 @0 thread -1 (t)", "-",
                  "0/0 @1 thread 0 (t)", "-",
                  "2147483647/2147483647 @2 thread 2147483647 (t)", "-",
                  "1000000001/1000000003 @3 thread 2147483648 (t)", "-",
                  "1000000001/1000000004 @4 thread 2147483648 (t) (lane 3)"));
  EXPECT_THAT(Processes(rows),
              ElementsAre("1000000000 @1000000000 : CPU", "0 @0 : CPU",
                          "2147483647 @2147483647 : CPU",
                          "1000000001 @1000000001 : CPU"));
}

// Kineto has a process for each device.
TEST(RowsTest, StreamsOfTwoProcessesStayApart) {
  TestTrace t;
  t.AddProcess(5, "first");
  t.AddProcess(6, "sh");
  t.AddProcess(6, "second");
  for (const int64_t pid : {5, 6}) {
    for (const int64_t id : {0, 7}) {
      const auto track = t.AddStream(2, id, pid);
      t.AddRange(track, "k", 0, 1, model::ActivityType::kConcurrentKernel);
    }
  }
  t.AddStream(3, 7, 6);
  const Rows rows(std::move(t).Build());
  EXPECT_THAT(Texts(rows.tracks),
              ElementsAre("2/1000000000 @0 stream 0 ", "2/7 @1 stream 7 ",
                          "2/1000000001 @2 stream 0 ",
                          "2/1000000002 @3 stream 7 of process 6 ", "-"));
  EXPECT_THAT(Processes(rows),
              ElementsAre("5 @5 first: CPU", "6 @6 second: CPU",
                          "2 @5000002 first: GPU 2"));
}

// A number that a process, thread or device has is given to no other row.
TEST(RowsTest, NewIdsAreNobodys) {
  TestTrace t;
  t.AddProcess(1'000'000'000, "app");
  const auto main = t.AddThread(1'000'000'001, 1'000'000'003, "main");
  t.AddSample(main, 0, 1, {"f"});
  t.AddStream(1'000'000'002, 1, 4);
  const Rows rows(std::move(t).Build());
  EXPECT_THAT(Texts(rows.flames),
              ElementsAre("1000000001/1000000004 @1 thread 1000000003 (main) "
                          "samples",
                          "-"));
}

TEST(RowsTest, WhateverATrackHasMakesItsRow) {
  const auto is_used = [](auto add) {
    TestTrace t;
    t.AddThread(1, 1, "main");
    t.AddThread(1, 2, "other");
    add(t.data());
    const Rows rows(std::move(t).Build());
    EXPECT_FALSE(rows.tracks[0].is_used);
    return rows.tracks[1].is_used;
  };
  EXPECT_FALSE(is_used([](model::TraceData&) {}));
  EXPECT_TRUE(is_used(
      [](model::TraceData& data) { data.counters.push_back({.track = 1}); }));
  EXPECT_TRUE(is_used(
      [](model::TraceData& data) { data.memory.push_back({.track = 1}); }));
  EXPECT_TRUE(is_used(
      [](model::TraceData& data) { data.samples.push_back({.track = 1}); }));
  EXPECT_TRUE(is_used([](model::TraceData& data) {
    data.allocation_counts.push_back({.track = 1});
  }));
  EXPECT_TRUE(is_used([](model::TraceData& data) {
    auto states = std::make_shared<model::ThreadStates>();
    states->threads.push_back({.track = 1});
    data.thread_states = states;
  }));
  EXPECT_TRUE(is_used([](model::TraceData& data) {
    auto folded = std::make_shared<model::FoldedMemory>();
    folded->heaps.push_back({.track = 0, .stacks = {{.track = 1}}});
    data.folded_memory = folded;
  }));
}

std::string Records(const model::Trace& trace, bool with_heap) {
  std::string text;
  const auto sink = NewStringSink(&text);
  const Rows rows(trace);
  EXPECT_TRUE(ExactRecords(trace, rows, /*base_ns=*/1'000, with_heap)
                  .Write(*sink)
                  .ok());
  return text;
}

// Numbers of names begin at 1, those of frames at 0, those of stacks at 1.
TEST(ExactRecordsTest, SamplesCountsAndTheirStacks) {
  TestTrace t;
  const auto main = t.AddThread(7, 8, "main");
  t.AddThread(7, 9, "idle");
  const auto other = t.AddThread(7, 10, "other");
  const auto push = [&](model::StackId parent, model::Frame frame,
                        const char* function) {
    frame.function = t.Intern(function);
    return t.data().stacks.Push(parent, t.data().stacks.AddFrame(frame));
  };
  const auto root = push(model::kEmptyStack, {.is_inlined = true}, "f");
  const auto leaf = push(root,
                         {.file = t.Intern("a.cc"),
                          .module = t.Intern("/bin/app"),
                          .line = 5,
                          .address = 0x40,
                          .is_kernel = true,
                          .is_resolved = false},
                         "g");
  const auto of_heap = push(root, {}, "h");
  push(root, {}, "of nobody");
  t.data().samples = {{main, leaf, 1'500, 10},
                      {main, model::kEmptyStack, 900, -1},
                      {other, root, 1'600, 20}};
  t.data().memory.push_back({.track = main,
                             .source = model::MemorySource::kHeap,
                             .bytes = 8,
                             .stack = of_heap});
  t.data().allocation_counts = {{main, 10, 9, 640}};
  t.SetThreadTimes({{.track = main,
                     .wall_ns = 900,
                     .on_cpu_ns = 500,
                     .runnable_ns = 90,
                     .unknown_ns = 7,
                     .open_wait_ns = 3,
                     .voluntary_switches = 8,
                     .involuntary_switches = 4,
                     .run_queue = model::RunQueueTime::kWhole,
                     .counts = {.has_faults = true,
                                .minor_faults = 11,
                                .major_faults = 2,
                                .has_io = true,
                                .read_calls = 3,
                                .read_bytes = 400,
                                .write_calls = 5,
                                .written_bytes = 60,
                                .disk_read_bytes = 7,
                                .disk_written_bytes = 8},
                     .begin_ns = 950,
                     .end_ns = 1'850,
                     .creator = other}},
                   /*cpu_count=*/2);
  t.SetKymoCpu(40);
  t.SetCpuLimit({.quota_ns = 150,
                 .period_ns = 100,
                 .periods = 9,
                 .throttled_periods = 4,
                 .throttled_ns = 70});
  t.data().sampling_period_ns = 250;
  t.data().memory_sample_interval = 0.5;
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(Records(trace, /*with_heap=*/false),
            "\"kymo_records_0\": {\"sampling_period_ns\":250,"
            "\"memory_sample_interval\":0.5,"
            "\"names\":[\"f\",\"g\",\"a.cc\",\"/bin/app\"],"
            "\"frames\":[[1,0,0,0,0,1],[2,3,4,5,64,6]],"
            "\"stacks\":[[0,0],[1,1]],"
            "\"rows\":[[7,1000000000],[7,1000000001]],"
            "\"samples\":[[0,500,10,2],[0,0,0,0],[1,600,20,1]],"
            "\"allocations\":[[7,8,10,9,640]],"
            "\"cpu_count\":2,"
            "\"cpu_limits\":[[150,100,9,4,70]],"
            "\"kymo_cpu_ns\":40,"
            "\"threads\":[[7,8,900,500,90,7,3,8,4,2,950,1850,7,10]],"
            "\"thread_counts\":[[0,1,11,2,1,3,400,5,60,7,8]]},\n");
  const std::string with_heap = Records(trace, /*with_heap=*/true);
  EXPECT_NE(with_heap.find("\"/bin/app\",\"h\"]"), std::string::npos);
  EXPECT_NE(with_heap.find("\"stacks\":[[0,0],[1,1],[1,2]]"),
            std::string::npos);
}

TEST(ExactRecordsTest, OfSeveralProcessesWhoStartedWhom) {
  const auto records_of = [](int count) {
    TestTrace t;
    for (const int pid : {7, 8, 9}) {
      if (pid - 7 < count) t.AddProcess(pid, "app");
    }
    t.data().processes[0].parent_pid = 5;
    if (count > 1) t.data().processes[1].parent_pid = 7;
    return Records(std::move(t).Build(), true);
  };
  EXPECT_EQ(records_of(1), "");
  EXPECT_EQ(records_of(3),
            "\"kymo_records_0\": {\"parents\":[[7,5],[8,7]]},\n");
}

TEST(ExactRecordsTest, WaitsAndWhatTheyNeed) {
  TestTrace t;
  const auto main = t.AddThread(7, 8, "main");
  t.AddThread(7, 9, "of nothing");
  const auto waker = t.AddThread(7, 10, "waker");
  t.SetMinWait(100);
  const auto holder_stack = t.Stack({"h"});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kLock,
             .is_open = true,
             .begin_ns = 1'500,
             .duration_ns = 90,
             .runnable_ns = 0,
             .object = 4'660,
             .object_name = t.Intern("a.cc:5"),
             .waker = waker,
             .holder = main,
             .holder_stack = holder_stack},
            {"f"});
  t.AddWait({.track = main, .begin_ns = 2'000, .duration_ns = 7});
  t.AddShortWaits({.track = main,
                   .kind = model::WaitKind::kSleep,
                   .object = 3,
                   .count = 2,
                   .duration_ns = 150,
                   .longest_ns = 80},
                  {"g"});
  EXPECT_EQ(Records(std::move(t).Build(), true),
            "\"kymo_records_0\": {\"names\":[\"h\",\"/bin/app\",\"f\","
            "\"g\",\"a.cc:5\"],"
            "\"frames\":[[1,0,2,0,0,0],[3,0,2,0,0,0],[4,0,2,0,0,0]],"
            "\"stacks\":[[0,0],[0,1],[0,2]],"
            "\"cpu_count\":0,"
            "\"wait_rows\":[[7,8],[7,10]],\"min_wait_ns\":100,"
            "\"waits\":[[0,1,1,500,90,1,2,4660,5,2,0,1,1],"
            "[0,0,0,1000,7,0,0,0,0,0,0,0,0]],"
            "\"short_waits\":[[0,3,3,3,0,2,150,80]]},\n");
}

TEST(RowsTest, AThreadThatWaitedHasARowForThat) {
  TestTrace t;
  const auto main = t.AddThread(7, 8, "main");
  const auto waker = t.AddThread(7, 9, "waker");
  const auto other = t.AddThread(7, 10, "other");
  t.AddWait({.track = main, .waker = waker});
  t.AddShortWaits({.track = other, .count = 1});
  const Rows rows(std::move(t).Build());
  EXPECT_THAT(Texts(rows.tracks),
              ElementsAre("7/8 @0 thread 8 (main)", "7/9 @2 thread 9 (waker)",
                          "7/10 @4 thread 10 (other)"));
  EXPECT_THAT(Texts(rows.waits),
              ElementsAre("7/1000000000 @1 thread 8 (main) waits",
                          "7/1000000001 @3 thread 9 (waker) waits", "-"));
}

// "name@begin+duration where object", in us.
std::vector<std::string> WaitSlicesOf(const google::protobuf::Struct& json) {
  std::vector<std::string> texts;
  for (JsonMap slice : Events(json, "X")) {
    if (Text(slice, "cat") != "thread_wait") continue;
    EXPECT_EQ(Number(slice, "tid"),
              Text(slice, "name") == "wakes" ? 1'000'000'001 : 1'000'000'000);
    std::string text =
        absl::StrCat(Text(slice, "name"), "@", Number(slice, "ts"), "+",
                     Number(slice, "dur"));
    for (const char* const key : {"where", "object", "held by", "held in",
                                  "woken by", "woken in", "finished"}) {
      const JsonMap args = slice["args"].struct_value().fields();
      if (!args.contains(key)) continue;
      absl::StrAppend(&text, " ", key, "=", args.at(key).string_value(),
                      args.at(key).number_value());
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(WaitSlicesTest, WaitsHaveARowOfTheirOwn) {
  TestTrace t;
  const auto main = t.AddThread(7, 8, "main");
  const auto waker = t.AddThread(7, 9, "waker");
  t.AddWait({.track = main,
             .kind = model::WaitKind::kLock,
             .begin_ns = 1'000,
             .duration_ns = 5'000,
             .runnable_ns = 2'000,
             .object = 31,
             .waker = waker,
             .waker_stack = t.Stack({"g"})},
            {"main", "f"});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kCpuBusy,
             .begin_ns = 7'000,
             .duration_ns = 1'000,
             .runnable_ns = 1'000});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kSleep,
             .is_open = true,
             .begin_ns = 9'000,
             .duration_ns = 1'000});
  t.SetWindow(0, 10'000);
  const model::Trace trace = std::move(t).Build();
  const auto json = ParseJson(ChromeText(trace));
  EXPECT_THAT(WaitSlicesOf(json),
              ElementsAre("lock@1+3 where=f0 object=0x1f0 held by=9 held in=g0 "
                          "woken by=9 woken in=g0",
                          "runnable@4+2", "CPU busy@7+1",
                          "sleep@9+1 finished=0", "wakes@4+0.1"));
  // From the waker to where the thread is runnable.
  for (const auto& [phase, tid] :
       {std::pair("s", 1'000'000'001), std::pair("f", 1'000'000'000)}) {
    const auto flows = Events(json, phase);
    ASSERT_EQ(flows.size(), 1u);
    JsonMap flow = flows[0];
    EXPECT_EQ(Number(flow, "tid"), tid);
    EXPECT_EQ(Number(flow, "ts"), 4);
    EXPECT_EQ(Number(flow, "id"), 0);
    EXPECT_EQ(Text(flow, "cat"), "thread_wait");
  }
}

TEST(WaitSlicesTest, WhoWakesSeveralThreadsAtOnceHasOneSlice) {
  TestTrace t;
  const auto waker = t.AddThread(7, 8, "waker");
  const auto add = [&](model::TrackIndex track, DurationNs runnable_ns) {
    t.AddWait({.track = track,
               .kind = model::WaitKind::kCondition,
               .begin_ns = 1'000,
               .duration_ns = 3'000,
               .runnable_ns = runnable_ns,
               .waker = waker});
  };
  const auto first = t.AddThread(7, 9, "first");
  const auto second = t.AddThread(7, 10, "second");
  const auto later = t.AddThread(7, 11, "later");
  add(first, 2'000);
  add(second, 1'950);
  add(later, 1'000);
  t.SetWindow(0, 10'000);
  const auto json = ParseJson(ChromeText(std::move(t).Build()));
  std::vector<double> wakes;
  for (JsonMap slice : Events(json, "X")) {
    if (Text(slice, "name") == "wakes") wakes.push_back(Number(slice, "ts"));
  }
  EXPECT_THAT(wakes, ElementsAre(2, 3));
  EXPECT_EQ(Events(json, "s").size(), 3u);
  EXPECT_EQ(Events(json, "f").size(), 3u);
}

// Readers want the slices of a row in the order of time.
TEST(WaitSlicesTest, AThreadMayWakeOthersBetweenItsOwnWaits) {
  TestTrace t;
  const auto main = t.AddThread(7, 8, "main");
  const auto other = t.AddThread(7, 9, "other");
  const auto add = [&](model::TrackIndex track, TimeNs begin_ns,
                       model::TrackIndex waker) {
    t.AddWait({.track = track,
               .kind = model::WaitKind::kLock,
               .begin_ns = begin_ns,
               .duration_ns = 1'000,
               .runnable_ns = 100,
               .waker = waker});
  };
  for (const TimeNs begin_ns : {1'000, 5'000, 9'000}) {
    add(main, begin_ns, other);
  }
  for (const TimeNs begin_ns : {3'000, 7'000}) add(other, begin_ns, main);
  t.SetWindow(0, 10'000);
  std::map<double, double> last;  // by row
  int wakes = 0;
  for (JsonMap slice :
       Events(ParseJson(ChromeText(std::move(t).Build())), "X")) {
    double& time = last[Number(slice, "tid")];
    EXPECT_GE(Number(slice, "ts"), time);
    time = Number(slice, "ts");
    wakes += Text(slice, "name") == "wakes";
  }
  EXPECT_EQ(wakes, 5);
}

TEST(ExactRecordsTest, NothingMakesNoMember) {
  TestTrace t;
  t.AddThread(7, 8, "main");
  EXPECT_THAT(Records(std::move(t).Build(), true), IsEmpty());
}

// Of a megabyte each.
TEST(ExactRecordsTest, LongListsAreSeveralMembers) {
  TestTrace t;
  t.AddThread(7, 8, "main");
  for (int i = 0; i < 100'000; ++i) {
    t.data().samples.push_back({0, model::kEmptyStack, 1'000'000 + i, 1});
  }
  const std::string text = Records(std::move(t).Build(), true);
  const size_t second = text.find("},\n\"kymo_records_1\": {\"samples\":[[0,");
  ASSERT_NE(second, std::string::npos);
  EXPECT_GE(second, size_t{1} << 20);
  EXPECT_LT(second, (size_t{1} << 20) + 100);
  EXPECT_NE(text.find("\"kymo_records_1\""), std::string::npos);
  EXPECT_TRUE(text.ends_with("]},\n"));
}

}  // namespace
}  // namespace kymo::chrome
