#include "profiler/analysis/averages/key_averages.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/base/op_inputs.h"
#include "profiler/base/parallel.h"
#include "profiler/model/op_inputs.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Names(const std::vector<KeyAverage>& averages) {
  std::vector<std::string> names;
  for (const KeyAverage& average : averages) names.push_back(average.name);
  return names;
}

std::vector<DurationNs> SelfTimes(const std::vector<KeyAverage>& averages) {
  std::vector<DurationNs> times;
  for (const KeyAverage& average : averages) {
    times.push_back(average.self_cpu_time_total_ns);
  }
  return times;
}

// Ranges at random, from `threads` threads, with `names` names.
model::Trace RandomTrace(int events, int threads, int names) {
  std::mt19937 random(7);
  TestTrace t;
  for (int thread = 0; thread < threads; ++thread) {
    const auto track = t.AddThread(1, 100 + thread, "worker");
    TimeNs now = random() % 50;
    for (int i = 0; i < events / threads; ++i) {
      now += random() % 20;
      t.AddRange(track, "f" + std::to_string(random() % names), now,
                 now + random() % 300,
                 random() % 8 ? model::ActivityType::kCpuOp
                              : model::ActivityType::kUserAnnotation);
    }
  }
  return std::move(t).Build();
}

// The duration of each event less those of its direct children; of instants and
// asynchronous ranges nothing, nor do they take from their parent.
std::vector<DurationNs> SimpleSelfTimes(const model::Trace& trace) {
  std::vector<DurationNs> self(trace.event_count());
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.flags()[i] & (model::kEventInstant | model::kEventAsync)) {
      continue;
    }
    const DurationNs duration = trace.end()[i] - trace.start()[i];
    self[i] += duration;
    const model::EventIndex parent = trace.parent()[i];
    if (parent != model::kNoEvent) self[parent] -= duration;
  }
  return self;
}

TEST(KeyAveragesTest, AddsUpByName) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "forward", 100, 900);
  t.AddRange(main, "matmul", 200, 700);
  t.AddRange(main, "matmul", 750, 760);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_THAT(Names(rows), ElementsAre("forward", "matmul"));
  EXPECT_EQ(rows[0].count, 1);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 800);
  EXPECT_EQ(rows[0].self_cpu_time_total_ns, 290);
  EXPECT_EQ(rows[1].count, 2);
  EXPECT_EQ(rows[1].cpu_time_total_ns, 510);
  EXPECT_EQ(rows[1].self_cpu_time_total_ns, 510);
  EXPECT_EQ(rows[1].min_ns, 10);
  EXPECT_EQ(rows[1].max_ns, 500);
  EXPECT_EQ(rows[1].first_event, 1u);
}

TEST(KeyAveragesTest, EmptyTraceHasNone) {
  EXPECT_THAT(KeyAverages(TestTrace().Build()), IsEmpty());
}

TEST(KeyAveragesTest, NestedCallsOfOneNameCountRepeatedly) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "fib", 0, 100);
  t.AddRange(main, "fib", 10, 40);
  t.AddRange(main, "fib", 50, 90);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 3);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 170);
  EXPECT_EQ(rows[0].self_cpu_time_total_ns, 100);
}

TEST(KeyAveragesTest, AnnotationsAndStreamsAreGroupsOfTheirOwn) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "x", 10, 20);
  t.AddAnnotation(main, "x", 30, 50);
  const auto stream = t.AddStream(0, 7);
  t.AddRange(stream, "x", 15, 45, model::ActivityType::kConcurrentKernel);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_FALSE(rows[0].is_user_annotation || rows[0].is_device);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 10);
  EXPECT_TRUE(rows[1].is_device);
  EXPECT_EQ(rows[1].cpu_time_total_ns, 0);
  EXPECT_EQ(rows[1].self_cpu_time_total_ns, 0);
  EXPECT_EQ(rows[1].device_time_total_ns, 30);
  EXPECT_EQ(rows[1].self_device_time_total_ns, 30);
  EXPECT_TRUE(rows[2].is_user_annotation);
  EXPECT_EQ(rows[2].self_cpu_time_total_ns, 20);
}

TEST(KeyAveragesTest, OrderIsByStartThenLongerFirstOverAllThreads) {
  TestTrace t;
  const auto one = t.AddThread(1, 1, "one");
  t.AddRange(one, "late", 50, 60);
  t.AddRange(one, "early", 70, 80);
  const auto two = t.AddThread(1, 2, "two");
  t.AddRange(two, "early", 10, 20);
  t.AddRange(two, "long", 50, 70);
  t.AddRange(two, "same", 50, 60);
  EXPECT_THAT(Names(KeyAverages(std::move(t).Build())),
              ElementsAre("early", "long", "late", "same"));
}

TEST(KeyAveragesTest, StepsAreOneGroupAndInstantsNone) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddAnnotation(main, "ProfilerStep#1", 0, 10);
  t.AddInstant(main, "tick", 5);
  t.AddAnnotation(main, "ProfilerStep#2", 10, 30);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_THAT(Names(rows), ElementsAre("ProfilerStep*"));
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 30);
}

TEST(KeyAveragesTest, AsyncRangesHaveTotalButNoSelfTime) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "x", 0, 3, model::ActivityType::kCpuOp, model::kEventAsync);
  const auto rows = KeyAverages(std::move(t).Build());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].is_async);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 3);
  EXPECT_EQ(rows[0].self_cpu_time_total_ns, 0);
}

TEST(KeyAveragesTest, InstantsAndAsyncRangesTakeNothingFromTheirParent) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 100);
  t.AddInstant(main, "i", 10);
  t.AddRange(main, "async", 20, 500, model::ActivityType::kCpuOp,
             model::kEventAsync);
  t.AddRange(main, "b", 30, 40);
  EXPECT_THAT(SelfTimes(KeyAverages(std::move(t).Build())),
              ElementsAre(90, 0, 10));
}

TEST(KeyAveragesTest, OverlappingChildrenMakeSelfTimesNegative) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 10);
  t.AddRange(main, "b", 1, 8);
  t.AddRange(main, "c", 2, 10);
  EXPECT_THAT(SelfTimes(KeyAverages(std::move(t).Build())),
              ElementsAre(-5, 7, 8));
}

// Parents and children stand in different parts of the parallel pass.
TEST(KeyAveragesTest, RootOverManyRangesLosesAllItsChildren) {
  constexpr int kChildren = 300'000;
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "root", 0, 10 * kChildren);
  for (int i = 0; i < kChildren / 2; ++i) {
    t.AddRange(main, "child", 20 * i, 20 * i + 9);
    t.AddRange(main, "grandchild", 20 * i + 1, 20 * i + 3);
  }
  EXPECT_THAT(SelfTimes(KeyAverages(std::move(t).Build())),
              ElementsAre(10 * kChildren - 9 * (kChildren / 2),
                          7 * (kChildren / 2), 2 * (kChildren / 2)));
}

TEST(KeyAveragesTest, DuplicatesMergeOnRequest) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "add", 0, 10);
  t.AddRange(main, "add", 1, 9);
  t.AddAnnotation(main, "add", 2, 8);
  t.AddRange(main, "mul", 3, 4);
  const model::Trace trace = std::move(t).Build();
  const auto kept = KeyAverages(trace);
  ASSERT_THAT(Names(kept), ElementsAre("add", "add", "mul"));
  EXPECT_EQ(kept[0].count, 2);
  EXPECT_EQ(kept[0].cpu_time_total_ns, 18);
  const auto merged = KeyAverages(trace, Duplicates::kMerge);
  ASSERT_THAT(Names(merged), ElementsAre("add", "mul"));
  EXPECT_EQ(merged[0].count, 1);
  EXPECT_EQ(merged[0].cpu_time_total_ns, 10);
  EXPECT_EQ(merged[0].self_cpu_time_total_ns, 9);
  EXPECT_EQ(merged[1].self_cpu_time_total_ns, 1);
}

TEST(KeyAveragesTest, SelfTimesAddUpToThoseOfTheEvents) {
  const model::Trace trace = RandomTrace(200'000, 3, 50);
  DurationNs of_events = 0;
  for (const DurationNs self : SimpleSelfTimes(trace)) of_events += self;
  DurationNs of_groups = 0;
  int64_t count = 0;
  for (const KeyAverage& row : KeyAverages(trace)) {
    of_groups += row.self_cpu_time_total_ns;
    count += row.count;
  }
  EXPECT_EQ(of_groups, of_events);
  EXPECT_EQ(count, static_cast<int64_t>(trace.event_count()));
}

TEST(KeyAveragesTest, SameForAnyNumberOfThreadsAndManyNames) {
  for (const int names : {1, 40, 60'000}) {
    const model::Trace trace = RandomTrace(400'000, 4, names);
    const std::vector<KeyAverage> parallel = KeyAverages(trace);
    const ParallelismLimit limit(1);
    EXPECT_TRUE(KeyAverages(trace) == parallel) << names;
  }
}

// Inputs: one float or double tensor of the given sizes.
model::NameId Inputs(TestTrace& t, std::vector<int64_t> sizes,
                     DType dtype = DType::kFloat) {
  const Input inputs[] = {TensorMeta{.sizes = sizes, .dtype = dtype}};
  std::string encoded(EncodedInputBytes(inputs, 1), '\0');
  EncodeInputs(inputs, 1, encoded.data());
  return t.Intern(encoded);
}

// A stack of functions, outermost first, each at an address of its own.
model::StackId Stack(TestTrace& t, std::vector<std::string> functions) {
  static uint64_t address = 0;
  model::StackId stack = model::kEmptyStack;
  for (const std::string& function : functions) {
    stack = t.data().stacks.Push(
        stack, t.data().stacks.AddFrame({.function = t.Intern(function),
                                         .file = t.Intern(function + ".cc"),
                                         .line = 7,
                                         .address = ++address}));
  }
  return stack;
}

// The details of the event that was added last.
model::Detail& DetailOfLast(TestTrace& t) {
  t.Describe(0);
  return t.data().details.back();
}

TEST(KeyAveragesTest, ShapesAreComparedNotTypes) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "mm", 0, 10);
  DetailOfLast(t).inputs = Inputs(t, {2, 3});
  t.AddRange(main, "mm", 20, 40);
  DetailOfLast(t).inputs = Inputs(t, {2, 3}, DType::kDouble);
  t.AddRange(main, "mm", 50, 55);
  DetailOfLast(t).inputs = Inputs(t, {4, 5});
  t.AddRange(main, "mm", 60, 61);
  const model::Trace trace = std::move(t).Build();
  const auto rows = KeyAverages(trace, {.by_input_shapes = true});
  ASSERT_THAT(Names(rows), ElementsAre("mm", "mm", "mm"));
  EXPECT_EQ(rows[0].input_shapes, "[[2, 3]]");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].cpu_time_total_ns, 30);
  EXPECT_EQ(rows[1].input_shapes, "[[4, 5]]");
  EXPECT_EQ(rows[1].cpu_time_total_ns, 5);
  EXPECT_EQ(rows[2].input_shapes, "[]");
  EXPECT_EQ(KeyAverages(trace)[0].input_shapes, "");
}

TEST(KeyAveragesTest, InnermostFramesTellGroupsApart) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (const char* caller : {"train", "test", "train"}) {
    const TimeNs start = static_cast<TimeNs>(t.data().start.size()) * 10;
    t.AddRange(main, "mm", start, start + 5);
    const model::StackId stack = Stack(t, {"main", caller, "layer"});
    DetailOfLast(t).stack = stack;
  }
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(KeyAverages(trace, {.by_stack_n = 1}).size(), 1u);
  const auto rows = KeyAverages(trace, {.by_stack_n = 2});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].count, 2);
  const model::StackTable& stacks = trace.stacks();
  EXPECT_EQ(
      trace.Name(
          stacks.frame(stacks.leaf(stacks.parent(rows[1].stack))).function),
      "test");
}

TEST(KeyAveragesTest, OverloadsAreGroupsOnRequest) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "add", 0, 10);
  DetailOfLast(t).overload_name = t.Intern("out");
  t.AddRange(main, "add", 20, 21);
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(KeyAverages(trace).size(), 1u);
  const auto rows = KeyAverages(trace, {.by_overload_name = true});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].overload_name, "out");
  EXPECT_EQ(rows[1].overload_name, "");
}

TEST(KeyAveragesTest, FramesAreLeftOutUnlessAskedFor) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "forward", 0, 100);
  t.AddRange(main, "forward", 10, 90, model::ActivityType::kPythonFunction);
  t.AddRange(main, "mm", 20, 30);
  const model::Trace trace = std::move(t).Build();
  const auto rows = KeyAverages(trace);
  ASSERT_THAT(Names(rows), ElementsAre("forward", "mm"));
  EXPECT_EQ(rows[0].self_cpu_time_total_ns, 20);
  const auto all = KeyAverages(trace, {.include_python_functions = true});
  ASSERT_THAT(Names(all), ElementsAre("forward", "mm"));
  EXPECT_EQ(all[0].count, 2);
  EXPECT_EQ(all[0].self_cpu_time_total_ns, 90);
}

TEST(KeyAveragesTest, FlopsAndMemoryAreSummed) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "forward", 0, 100);
  t.AddRange(main, "mm", 10, 20);
  t.AddRange(main, "mm", 30, 40);
  const int64_t flops[] = {0, 5, 7};
  const int64_t cpu_bytes[] = {100, 60, -10};
  const int64_t device_bytes[] = {8, 4, 4};
  const auto rows =
      KeyAverages(std::move(t).Build(), {.flops = flops,
                                         .cpu_memory_bytes = cpu_bytes,
                                         .device_memory_bytes = device_bytes});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].cpu_memory_usage_bytes, 100);
  EXPECT_EQ(rows[0].self_cpu_memory_usage_bytes, 50);
  EXPECT_EQ(rows[0].self_device_memory_usage_bytes, 0);
  EXPECT_EQ(rows[1].flops, 12);
  EXPECT_EQ(rows[1].cpu_memory_usage_bytes, 50);
  EXPECT_EQ(rows[1].device_memory_usage_bytes, 8);
}

// RandomTrace with details, and numbers for each event.
struct Described {
  model::Trace trace;
  std::vector<int64_t> flops, cpu_bytes, device_bytes;
};

Described RandomDescribed(int events) {
  std::mt19937 random(11);
  TestTrace t;
  std::vector<model::NameId> inputs, overloads;
  std::vector<model::StackId> stacks = {model::kEmptyStack};
  for (int i = 0; i < 6; ++i) {
    inputs.push_back(
        Inputs(t, {i / 2, 3}, i % 2 != 0 ? DType::kFloat : DType::kDouble));
    overloads.push_back(t.Intern(i % 3 == 0 ? "" : std::to_string(i)));
    stacks.push_back(Stack(t, {std::to_string(i % 2), "f", "g"}));
  }
  std::vector<int64_t> numbers[3];
  for (int thread = 0; thread < 3; ++thread) {
    const auto track =
        thread == 2 ? t.AddStream(0, 7) : t.AddThread(1, 100 + thread, "w");
    TimeNs now = 0;
    for (int i = 0; i < events / 3; ++i) {
      now += random() % 20;
      const uint32_t kind = random() % 30;
      const std::string name = kind == 0 ? "ProfilerStep#" + std::to_string(i)
                                         : "f" + std::to_string(random() % 20);
      if (kind == 1) {
        t.AddInstant(track, name, now);
      } else {
        t.AddRange(track, name, now, now + random() % 300,
                   kind == 2   ? model::ActivityType::kPythonFunction
                   : kind == 3 ? model::ActivityType::kUserAnnotation
                               : model::ActivityType::kCpuOp,
                   kind == 4 ? model::kEventAsync : 0);
      }
      for (std::vector<int64_t>& column : numbers) {
        column.push_back(random() % 1000);
      }
      if (random() % 2 == 0) continue;
      model::Detail& detail = DetailOfLast(t);
      detail.inputs = inputs[random() % inputs.size()];
      detail.overload_name = overloads[random() % overloads.size()];
      detail.stack = stacks[random() % stacks.size()];
    }
  }
  return {std::move(t).Build(), numbers[0], numbers[1], numbers[2]};
}

// The text of everything that the events of a group share.
std::string KeyText(const model::Trace& trace, model::EventIndex event,
                    const KeyAveragesOptions& options) {
  std::string name(trace.EventName(event));
  if (name.starts_with("ProfilerStep#")) name = "ProfilerStep*";
  const bool on_device =
      trace.tracks()[trace.track()[event]].kind == model::TrackKind::kStream;
  std::string key =
      name + (on_device ? " device" : "") +
      (trace.type()[event] == model::ActivityType::kUserAnnotation ? " user"
                                                                   : "");
  const model::Detail none;
  const model::Detail* detail = trace.detail(event);
  if (detail == nullptr) detail = &none;
  if (options.by_overload_name) {
    key += " overload " + std::string(trace.Name(detail->overload_name));
  }
  if (options.by_input_shapes) {
    key += " shapes " + model::InputShapesText(trace.Name(detail->inputs));
  }
  model::StackId stack = detail->stack;
  for (uint32_t n = 0; n < options.by_stack_n && stack != model::kEmptyStack;
       ++n, stack = trace.stacks().parent(stack)) {
    const model::Frame& frame =
        trace.stacks().frame(trace.stacks().leaf(stack));
    key += " in " + std::string(trace.Name(frame.function));
  }
  return key;
}

// Adds groups up in the simplest way, one event after the other.
struct SimpleSums {
  int64_t count = 0, total = 0, self = 0, flops = 0, bytes = 0, self_bytes = 0;
  friend bool operator==(const SimpleSums&, const SimpleSums&) = default;
};

std::map<std::string, SimpleSums> SimpleAverages(
    const Described& described, const KeyAveragesOptions& options) {
  const model::Trace& trace = described.trace;
  const auto counts = [&](model::EventIndex event) {
    return options.include_python_functions ||
           trace.type()[event] != model::ActivityType::kPythonFunction;
  };
  const auto self = SimpleSelfTimes(trace);
  std::map<std::string, SimpleSums> groups;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.flags()[i] & model::kEventInstant) continue;
    const int64_t bytes = described.cpu_bytes[i];
    const bool is_async = (trace.flags()[i] & model::kEventAsync) != 0;
    const model::EventIndex parent = trace.parent()[i];
    if (parent != model::kNoEvent && counts(parent)) {
      groups[KeyText(trace, parent, options)].self_bytes -= bytes;
    }
    if (!counts(i)) continue;
    SimpleSums& group = groups[KeyText(trace, i, options)];
    ++group.count;
    group.total += trace.end()[i] - trace.start()[i];
    group.self += self[i];
    group.flops += described.flops[i];
    group.bytes += bytes;
    if (!is_async) group.self_bytes += bytes;
  }
  return groups;
}

TEST(KeyAveragesTest, AgreesWithTheSimplestWayToAddUp) {
  const Described described = RandomDescribed(150'000);
  for (int choice = 0; choice < 16; ++choice) {
    const KeyAveragesOptions options = {
        .by_overload_name = (choice & 1) != 0,
        .by_input_shapes = (choice & 2) != 0,
        .by_stack_n = (choice & 4) != 0 ? 3u : 0u,
        .include_python_functions = (choice & 8) != 0,
        .flops = described.flops,
        .cpu_memory_bytes = described.cpu_bytes,
        .device_memory_bytes = described.device_bytes};
    const std::vector<KeyAverage> rows = KeyAverages(described.trace, options);
    std::map<std::string, SimpleSums> sums;
    for (const KeyAverage& row : rows) {
      // All of a device event's time is its self time.
      sums[KeyText(described.trace, row.first_event, options)] = {
          row.count,
          row.is_device ? row.device_time_total_ns : row.cpu_time_total_ns,
          row.is_device ? 0 : row.self_cpu_time_total_ns,
          row.flops,
          row.cpu_memory_usage_bytes,
          row.self_cpu_memory_usage_bytes};
    }
    std::map<std::string, SimpleSums> expected =
        SimpleAverages(described, options);
    for (auto& [key, group] : expected) {
      if (key.find(" device") != std::string::npos) group.self = 0;
    }
    EXPECT_EQ(sums.size(), rows.size());
    EXPECT_TRUE(sums == expected) << choice;
    const ParallelismLimit limit(1);
    EXPECT_TRUE(KeyAverages(described.trace, options) == rows) << choice;
  }
}

}  // namespace
}  // namespace kymo::analysis
