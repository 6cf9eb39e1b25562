// Averages of random traces, beside those of the simplest way to add up.
#include "profiler/analysis/averages/key_averages.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/analysis/averages/test_key_averages.h"
#include "profiler/base/op_inputs.h"
#include "profiler/base/parallel.h"
#include "profiler/model/op_inputs.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

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
  const Described described = RandomDescribed(80'000);
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
