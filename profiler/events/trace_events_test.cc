// Long, because events and averages are tried on the same traces.
#include "profiler/events/trace_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "profiler/base/op_inputs.h"
#include "profiler/events/averages/trace_averages.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::TrackIndex;

EventList Events(const model::Trace& trace, TraceEventsOptions options = {}) {
  absl::StatusOr<ConvertedEvents> converted = EventsOfTrace(trace, options);
  EXPECT_TRUE(converted.ok()) << converted.status();
  return converted.ok() ? std::move(converted->events) : EventList();
}

const FunctionEvent& Find(const EventList& events, std::string_view name) {
  const auto it =
      std::find_if(events.begin(), events.end(),
                   [&](const FunctionEvent& e) { return e.name == name; });
  EXPECT_NE(it, events.end()) << name;
  return *it;
}

TEST(TraceEventsTest, RangesBecomeEventsWithTheirDetails) {
  TestTrace t;
  const TrackIndex main = t.AddThread(42, 7, "main");
  t.data().tracks[main].logical_id = 3;
  t.AddRange(main, "forward", 1'000, 9'500);
  t.AddRange(main, "aten::mul", 2'000, 4'000);
  const std::vector<int64_t> sizes = {8, 4};
  const Input inputs[] = {TensorMeta{.sizes = sizes, .dtype = DType::kFloat},
                          2};
  std::string encoded(EncodedInputBytes(inputs, 2), '\0');
  EncodeInputs(inputs, 2, encoded.data());
  t.Describe(0, {model::Arg::Int(t.Intern("rows"), 8)});
  model::Detail& detail = t.data().details.back();
  detail.inputs = t.Intern(encoded);
  detail.sequence_nr = 5;
  t.SetRare({.forward_thread = 2});
  detail.stack = t.data().stacks.Push(
      t.data().stacks.Push(
          model::kEmptyStack,
          t.data().stacks.AddFrame({.function = t.Intern("main"),
                                    .file = t.Intern("a.cc"),
                                    .line = 9})),
      t.data().stacks.AddFrame(
          {.function = t.Intern("Step"), .module = t.Intern("/bin/app")}));
  t.AddInstant(main, "mark", 5'000);
  const EventList events = Events(
      std::move(t).Build(), {.flops = [](EventIndex) { return int64_t{32}; }});
  ASSERT_EQ(events.size(), 2);
  const FunctionEvent& mul = Find(events, "aten::mul");
  EXPECT_EQ(mul.time_range, (Interval{2, 4}));
  EXPECT_EQ(mul.thread, 3);
  EXPECT_EQ(mul.device_index, 42);
  EXPECT_EQ(*mul.input_shapes, (InputShapes{{8, 4}, {}}));
  EXPECT_EQ(*mul.stack, (EventStack{"/bin/app: Step", "a.cc(9): main"}));
  EXPECT_EQ(mul.sequence_nr, 5);
  EXPECT_EQ(mul.fwd_thread, 2);
  EXPECT_EQ(mul.flops, 32);
  EXPECT_EQ(mul.details->concrete_inputs, (std::vector<std::string>{"", "2"}));
  EXPECT_EQ(mul.details->kwinputs.at("rows"), "8");
  EXPECT_EQ(events[*mul.cpu_parent].name, "forward");
  EXPECT_EQ(Find(events, "forward").self_cpu_time_total(), 6.5);
}

// The clock did not advance while the first two calls ran.
TEST(TraceEventsTest, RangesWithinATickFollowEachOther) {
  TestTrace t;
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "loop", 1'000, 9'000);
  t.AddRange(main, "call", 1'000, 1'000);
  t.AddRange(main, "call", 1'000, 1'000);
  t.AddRange(main, "call", 1'000, 2'000);
  const EventList events = Events(std::move(t).Build());
  ASSERT_EQ(events.size(), 4u);
  for (size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(events[i].name, "call");
    EXPECT_EQ(events[i].cpu_parent, 0u);
  }
}

TEST(TraceEventsTest, MemoryIsChargedToTheThreadThatAllocated) {
  TestTrace t;
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 10'000);
  const TrackIndex other = t.AddThread(1, 2, "other");
  t.AddRange(other, "b", 0, 10'000);
  t.data().memory = {{.track = main, .time_ns = 5'000, .bytes = 100},
                     {.track = main, .time_ns = 12'000, .bytes = -100}};
  const EventList events =
      Events(std::move(t).Build(), {.profile_memory = true});
  EXPECT_EQ(Find(events, "a").cpu_memory_usage, 100);
  EXPECT_EQ(Find(events, "b").cpu_memory_usage, 0);
  EXPECT_EQ(Find(events, "[memory]").cpu_memory_usage, -100);
}

// Gives the event that was added last one of a few shapes and stacks, or none.
void Describe(TestTrace& t, std::mt19937& random) {
  if (random() % 3 == 0) return;
  t.Describe(0);
  model::Detail& detail = t.data().details.back();
  const std::vector<int64_t> sizes = {1 + static_cast<int64_t>(random() % 2)};
  const Input inputs[] = {TensorMeta{.sizes = sizes}};
  std::string encoded(EncodedInputBytes(inputs, 1), '\0');
  EncodeInputs(inputs, 1, encoded.data());
  detail.inputs = t.Intern(encoded);
  for (int depth = 0; depth < 3; ++depth) {
    detail.stack = t.data().stacks.Push(
        detail.stack,
        t.data().stacks.AddFrame(
            {.function = t.Intern("f" + std::to_string(random() % 2)),
             .file = t.Intern("a.cc"),
             .line = 1}));
  }
}

// Ranges of random length and depth on several threads, a few asynchronous,
// times of different nanoseconds.
model::Trace RandomTrace(uint32_t seed) {
  std::mt19937 random(seed);
  TestTrace t;
  for (int thread = 0; thread < 3; ++thread) {
    const TrackIndex track = t.AddThread(1, thread, "t");
    std::vector<TimeNs> ends = {1'000'000'007};
    for (TimeNs now = 1; now < 1'000'000'000; now += 1 + random() % 5'000'000) {
      while (ends.back() <= now) ends.pop_back();
      const TimeNs end =
          now + 1 + static_cast<TimeNs>(random() % (ends.back() - now));
      const bool is_async = random() % 10 == 0;
      t.AddRange(track, "op" + std::to_string(random() % 9), now, end,
                 random() % 5 == 0 ? ActivityType::kUserAnnotation
                                   : ActivityType::kCpuOp,
                 is_async ? model::kEventAsync : 0);
      Describe(t, random);
      if (!is_async) ends.push_back(end);
    }
  }
  return std::move(t).Build();
}

void ExpectEqual(const FunctionEventAvg& a, const FunctionEventAvg& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.input_shapes, b.input_shapes);
  EXPECT_EQ(a.stack, b.stack);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.flops, b.flops);
  EXPECT_EQ(a.is_user_annotation, b.is_user_annotation);
  EXPECT_EQ(a.is_async, b.is_async);
  EXPECT_EQ(a.cpu_parent.has_value(), b.cpu_parent.has_value());
  EXPECT_NEAR(a.cpu_time_total, b.cpu_time_total, 1e-6 * b.cpu_time_total);
  EXPECT_NEAR(a.self_cpu_time_total, b.self_cpu_time_total,
              1e-6 * b.cpu_time_total);
}

TEST(TraceAveragesTest, ColumnsAndEventsGiveTheSameAverages) {
  const KeyAveragesOptions groupings[] = {
      {},
      {.group_by_input_shape = true},
      {.group_by_stack_n = 2},
      {.group_by_input_shape = true, .group_by_stack_n = 5}};
  const TraceEventsOptions options = {
      .with_flops = true,
      .flops = [](EventIndex event) { return int64_t{event} % 100; }};
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const model::Trace trace = RandomTrace(seed);
    const EventList events = Events(trace, options);
    for (const KeyAveragesOptions& grouping : groupings) {
      const auto fast = AveragesOfTrace(trace, options, grouping);
      const auto slow = events.key_averages(grouping);
      ASSERT_TRUE(fast.ok() && slow.ok());
      ASSERT_EQ(fast->size(), slow->size());
      for (size_t i = 0; i < fast->size(); ++i) {
        ExpectEqual((*fast)[i], (*slow)[i]);
      }
    }
  }
}

// By columns, and by events: a device makes these necessary.
TEST(TraceAveragesTest, RecursionIsMergedOrKept) {
  for (const bool has_device : {false, true}) {
    TestTrace t;
    const TrackIndex main = t.AddThread(1, 1, "main");
    for (TimeNs i = 0; i < 10; ++i) t.AddRange(main, "f", i, 100 - i);
    t.AddRange(main, "g", 40, 50);
    if (has_device) {
      t.AddRange(t.AddStream(0, 7, 1), "k", 60, 70,
                 ActivityType::kConcurrentKernel);
    }
    const model::Trace trace = std::move(t).Build();
    const auto merged = AveragesOfTrace(trace, {});
    const auto kept =
        AveragesOfTrace(trace, {.duplicates = analysis::Duplicates::kKeep});
    ASSERT_TRUE(merged.ok() && kept.ok());
    EXPECT_EQ((*merged)[0].key, "f");
    EXPECT_EQ((*merged)[0].count, 1);
    EXPECT_EQ((*kept)[0].key, "f");
    EXPECT_EQ((*kept)[0].count, 10);
    for (const auto* const averages : {&*merged, &*kept}) {
      // All but the 10 ns of g.
      EXPECT_NEAR((*averages)[0].self_cpu_time_total, 0.09, 1e-9);
      EXPECT_EQ((*averages)[1].key, "g");
      EXPECT_EQ((*averages)[1].count, 1);
    }
  }
}

TEST(TraceAveragesTest, MemoryOfOperationsAndOfNone) {
  for (const TimeNs outside : {TimeNs{0}, TimeNs{90'000}}) {
    TestTrace t;
    const TrackIndex main = t.AddThread(1, 1, "main");
    t.AddRange(main, "outer", 10, 80'000);
    t.AddRange(main, "inner", 20, 30'000);
    t.data().memory = {{.track = main, .time_ns = 25, .bytes = 64},
                       {.track = main, .time_ns = 40'000, .bytes = -8}};
    if (outside != 0) {
      t.data().memory.push_back(
          {.track = main, .time_ns = outside, .bytes = 5});
    }
    const model::Trace trace = std::move(t).Build();
    const TraceEventsOptions options = {.profile_memory = true};
    const auto fast = AveragesOfTrace(trace, options);
    const auto slow = Events(trace, options).key_averages();
    ASSERT_TRUE(fast.ok() && slow.ok());
    EXPECT_EQ(fast->size(), outside == 0 ? 2 : 3);
    EXPECT_EQ(*fast->table(), *slow->table());
  }
}

TEST(TraceAveragesTest, ModulesAreLeftOutUnlessAskedFor) {
  TestTrace t;
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "top.forward", 0, 10, ActivityType::kPythonFunction,
             model::kEventModule);
  t.AddRange(main, "op", 1, 9);
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(AveragesOfTrace(trace, {})->size(), 1);
  EXPECT_EQ(
      AveragesOfTrace(trace, {}, {.include_python_functions = true})->size(),
      2);
}

// An operation that launches a kernel, beside one that does not.
model::Trace LaunchingTrace() {
  TestTrace t;
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "outer", 0, 9'000);
  t.AddRange(main, "mm", 1'000, 5'000);
  t.AddRange(main, "launch", 2'000, 3'000, ActivityType::kCudaRuntime);
  t.Describe(5);
  t.AddRange(main, "add", 6'000, 7'000);
  const TrackIndex stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "gemm", 2'500, 8'500, ActivityType::kConcurrentKernel);
  t.Describe(5);
  t.AddRange(stream, "alone", 8'500, 8'600, ActivityType::kConcurrentKernel);
  return std::move(t).Build();
}

TEST(TraceEventsTest, DeviceWorkBelongsToTheOperationThatLaunchedIt) {
  const model::Trace trace = LaunchingTrace();
  const EventList events = Events(trace, {.use_device = "cuda"});
  EXPECT_EQ(Find(events, "mm").self_device_time_total(), 6);
  EXPECT_EQ(Find(events, "outer").self_device_time_total(), 0);
  EXPECT_EQ(Find(events, "outer").device_time_total(), 6);
  EXPECT_EQ(Find(events, "add").device_time_total(), 0);
  EXPECT_EQ(Find(events, "gemm").device_time_total(), 6);
}

// Markers around operations and within them, beside a launch without any
// operation, a wait, a launch of another thread and an asynchronous marker.
model::Trace MarkedTrace() {
  TestTrace t;
  const auto marker = ActivityType::kNvtxRange;
  const auto call = ActivityType::kCudaRuntime;
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "step", 0, 90'000, marker);
  t.AddRange(main, "op", 1'000, 20'000);
  t.AddRange(main, "within op", 2'000, 19'000, marker);
  t.AddRange(main, "launch", 3'000, 4'000, call);
  t.Describe(1);
  t.AddRange(main, "inner", 30'000, 40'000, marker);
  t.AddRange(main, "launch", 31'000, 32'000, call);
  t.Describe(2);
  t.AddRange(main, "wait", 33'000, 34'000, call);
  t.Describe(3);
  t.AddRange(main, "async", 50'000, 60'000, marker, model::kEventAsync);
  t.AddRange(main, "launch", 51'000, 52'000, call);
  t.Describe(4);
  const TrackIndex other = t.AddThread(1, 2, "other");
  t.AddRange(other, "launch", 35'000, 36'000, call);
  t.Describe(5);
  const TrackIndex stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "k1", 5'000, 6'000, ActivityType::kConcurrentKernel);
  t.Describe(1);
  t.AddRange(stream, "k2", 33'000, 35'000, ActivityType::kConcurrentKernel);
  t.Describe(2);
  t.AddRange(stream, "k3", 35'000, 39'000, ActivityType::kCudaSync);
  t.Describe(3);
  t.AddRange(stream, "k4", 53'000, 61'000, ActivityType::kConcurrentKernel);
  t.Describe(4);
  t.AddRange(stream, "k5", 61'000, 77'000, ActivityType::kConcurrentKernel);
  t.Describe(5);
  return std::move(t).Build();
}

TEST(TraceEventsTest, MarkersListWhatTheirThreadLaunchedWithinThem) {
  const EventList events = Events(MarkedTrace(), {.use_device = "cuda"});
  const auto kernels = [&](std::string_view name) {
    std::string text;
    for (const Kernel& kernel : Find(events, name).kernels) {
      text += kernel.name + " ";
    }
    return text;
  };
  EXPECT_EQ(kernels("step"), "k1 k2 k4 ");
  EXPECT_EQ(kernels("op"), "k1 ");
  EXPECT_EQ(kernels("within op"), "");  // the operation launched it
  EXPECT_EQ(kernels("inner"), "k2 ");
  EXPECT_EQ(kernels("async"), "");
  EXPECT_EQ(Find(events, "step").device_time_total(), 11);
  EXPECT_EQ(Find(events, "step").self_device_time_total(), 8);  // k4
  EXPECT_EQ(Find(events, "op").device_time_total(), 1);
  EXPECT_EQ(Find(events, "inner").device_time_total(), 2);
}

// PyTorch appends to operations what CUDA, PrivateUse1 and XPU did, and neither
// MTIA nor HPU (_parse_kineto_results). A marker must not list more.
TEST(TraceEventsTest, MarkersListTheDevicesThatOperationsList) {
  const model::Trace trace = MarkedTrace();
  for (const char* device : {"cuda", "xpu", "npu", "mtia", "hpu"}) {
    const bool listed = DeviceTypeOf(device) != DeviceType::kMtia &&
                        DeviceTypeOf(device) != DeviceType::kHpu;
    const EventList events = Events(trace, {.use_device = device});
    EXPECT_EQ(Find(events, "step").device_time_total(), listed ? 11 : 0)
        << device;
    EXPECT_EQ(Find(events, "inner").device_time_total(), listed ? 2 : 0)
        << device;
    EXPECT_EQ(Find(events, "op").device_time_total(), listed ? 1 : 0) << device;
  }
}

// In PyTorch an operation has the time of its waits (CUDA_SYNC is an activity
// of the device CUDA), and load_nvprof gives markers kernels only.
TEST(TraceEventsTest, WaitsOfOperationsCountForTheMarkersAround) {
  TestTrace t;
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "step", 0, 90'000, ActivityType::kNvtxRange);
  t.AddRange(main, "op", 1'000, 20'000);
  t.AddRange(main, "call", 3'000, 4'000, ActivityType::kCudaRuntime);
  t.Describe(1);
  t.AddRange(main, "call", 30'000, 31'000, ActivityType::kCudaRuntime);
  t.Describe(2);
  const TrackIndex stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "of op", 5'000, 8'000, ActivityType::kCudaSync);
  t.Describe(1);
  t.AddRange(stream, "of none", 33'000, 38'000, ActivityType::kCudaSync);
  t.Describe(2);
  const EventList events = Events(std::move(t).Build(), {.use_device = "cuda"});
  EXPECT_EQ(Find(events, "op").device_time_total(), 3);
  EXPECT_EQ(Find(events, "step").device_time_total(), 3);
  EXPECT_EQ(Find(events, "step").self_device_time_total(), 0);
}

TEST(TraceEventsTest, NodesOfOperationsAndOfTheirCalls) {
  TestTrace t;
  const TrackIndex main = t.AddThread(1, 1, "main");
  t.AddRange(main, "early", 0, 1'000);
  t.AddRange(main, "op", 2'000, 9'000);
  t.Describe(0);
  t.SetRare({.node_id = 3});
  t.AddRange(main, "launch", 3'000, 6'000, ActivityType::kCudaRuntime);
  t.Describe(5);
  t.AddRange(main, "driver", 4'000, 5'000, ActivityType::kCudaDriver);
  t.AddRange(main, "inner", 7'000, 8'000);
  t.Describe(0);
  t.SetRare({.node_id = 3});
  t.data().memory = {{.track = main,
                      .event = model::MemoryEvent::kOutOfMemory,
                      .time_ns = 6'500,
                      .bytes = 100}};
  const model::Trace trace = std::move(t).Build();
  const EventList events = Events(trace);
  EXPECT_EQ(Find(events, "early").node_id, -1);
  EXPECT_EQ(Find(events, "op").node_id, 3);
  EXPECT_EQ(Find(events, "launch").node_id, 3);
  EXPECT_EQ(Find(events, "driver").node_id, 3);
  // PyTorch nests only events of one node. A call or an event of memory of
  // another one would keep the operation from having children.
  EXPECT_EQ(Find(events, "[OutOfMemory]").node_id, 3);
  EXPECT_EQ(Find(events, "op").self_cpu_time_total(), 3);
  const auto averages = AveragesOfTrace(trace, {});
  ASSERT_TRUE(averages.ok()) << averages.status();
  EXPECT_EQ((*averages)[1].key, "op");
  EXPECT_EQ((*averages)[1].node_id, 3);
}

TEST(TraceEventsTest, StreamsAreOfTheDeviceInUse) {
  const model::Trace trace = LaunchingTrace();
  const auto type_of = [&](const char* name,
                           const TraceEventsOptions& options) {
    return Find(Events(trace, options), name).device_type;
  };
  EXPECT_EQ(type_of("gemm", {}), DeviceType::kCuda);
  EXPECT_EQ(type_of("gemm", {.use_device = "cuda"}), DeviceType::kCuda);
  EXPECT_EQ(type_of("gemm", {.use_device = "hpu"}), DeviceType::kHpu);
  EXPECT_EQ(type_of("gemm", {.use_device = "npu"}), DeviceType::kPrivateUse1);
  EXPECT_EQ(type_of("mm", {.use_device = "npu"}), DeviceType::kCpu);
  // PyTorch gives operations the kernels of PrivateUse1, but not those of HPU.
  const EventList custom = Events(trace, {.use_device = "npu"});
  EXPECT_EQ(Find(custom, "mm").self_device_time_total(), 6);
  EXPECT_NE(custom.table()->find("Self NPU"), std::string::npos);
  const EventList hpu = Events(trace, {.use_device = "hpu"});
  EXPECT_EQ(Find(hpu, "mm").self_device_time_total(), 0);
  EXPECT_EQ(Find(hpu, "gemm").self_device_time_total(), 6);
}

TEST(TraceAveragesTest, OnlyCountedEventsHaveRowsAndTimesStay) {
  const model::Trace trace = LaunchingTrace();
  const std::vector<uint8_t> counted = {1, 0, 0, 1, 1, 0};
  const auto averages =
      AveragesOfTrace(trace, {.use_device = "cuda"}, {}, counted);
  ASSERT_TRUE(averages.ok()) << averages.status();
  ASSERT_EQ(averages->size(), 3);
  EXPECT_EQ((*averages)[0].key, "outer");
  EXPECT_EQ((*averages)[0].self_cpu_time_total, 4);
  EXPECT_EQ((*averages)[0].device_time_total, 6);
  EXPECT_EQ((*averages)[1].key, "gemm");
  EXPECT_EQ((*averages)[2].key, "add");
}

TEST(TraceAveragesTest, ColumnsAndEventsCountTheSame) {
  std::mt19937_64 random(3);
  TestTrace t;
  for (int64_t tid = 1; tid <= 3; ++tid) {
    const TrackIndex track = t.AddThread(1, tid, "");
    for (TimeNs at = 0; at < 100'000; at += 1'000) {
      t.AddRange(track, std::string(1, 'a' + random() % 4), at, at + 900);
      t.AddRange(track, std::string(1, 'a' + random() % 4), at + 100, at + 500);
    }
  }
  const model::Trace trace = std::move(t).Build();
  std::vector<uint8_t> counted(trace.event_count());
  for (uint8_t& c : counted) c = random() % 2;
  const auto fast = AveragesOfTrace(trace, {}, {}, counted);
  const auto slow = AverageGroups(CountedEvents(Events(trace), counted),
                                  KeyAveragesOptions());
  ASSERT_TRUE(fast.ok() && slow.ok());
  EXPECT_EQ(*fast->table(), *EventAverages(*slow, {}).table());
}

}  // namespace
}  // namespace kymo
