// Trees of random events, against the rules as they are written down and
// against what must hold for any input.
#include "profiler/events/event_tree.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/events/test_events.h"

namespace kymo {
namespace {

constexpr int kRounds = 200;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  // 0 <= result < n.
  int Below(int n) {
    return std::uniform_int_distribution<int>(0, n - 1)(engine_);
  }
  template <typename T>
  void Shuffle(std::vector<T>& list) {
    std::shuffle(list.begin(), list.end(), engine_);
  }

 private:
  std::mt19937 engine_;
};

// Events of up to three threads, anywhere: nested, overlapping, asynchronous.
std::vector<FunctionEvent> Anywhere(Random& random, int count) {
  std::vector<FunctionEvent> events;
  for (int i = 0; i < count; ++i) {
    const double start_us = random.Below(60);
    FunctionEvent e =
        Cpu(std::string(1, static_cast<char>('a' + random.Below(2))), start_us,
            start_us + random.Below(20));
    e.id = i;
    e.thread = random.Below(3);
    e.is_async = random.Below(10) == 0;
    if (random.Below(10) == 0) e.device_type = DeviceType::kCuda;
    if (random.Below(4) == 0) e.kernels = {{"k", 0, 1.0 + random.Below(9)}};
    events.push_back(std::move(e));
  }
  return events;
}

// Events of one thread that nest properly within [begin, end).
void Nested(Random& random, double begin, double end, int64_t thread,
            std::vector<FunctionEvent>& events) {
  double at = begin;
  while (at + 1 < end) {
    at += random.Below(3);
    const double until = at + 1 + random.Below(30);
    if (until > end) return;
    FunctionEvent e = Cpu("op" + std::to_string(random.Below(4)), at, until);
    e.id = static_cast<int64_t>(events.size());
    e.thread = thread;
    events.push_back(e);
    if (random.Below(3) != 0) Nested(random, at + 0.5, until, thread, events);
    at = until;
  }
}

// id -> id of the parent, -1 = none.
using Parents = std::map<int64_t, int64_t>;

Parents ParentsOf(const EventList& events) {
  Parents parents;
  for (const FunctionEvent& e : events) {
    parents[e.id] = e.cpu_parent ? events[*e.cpu_parent].id : -1;
  }
  return parents;
}

// The rules of event_tree.h, step by step and in quadratic time.
Parents PlainRules(const std::vector<FunctionEvent>& events) {
  std::vector<const FunctionEvent*> order;
  for (const FunctionEvent& e : events) {
    if (!e.is_async && e.device_type == DeviceType::kCpu) order.push_back(&e);
  }
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return std::tuple(a->thread, a->time_range.start_us,
                      -a->time_range.end_us) <
           std::tuple(b->thread, b->time_range.start_us, -b->time_range.end_us);
  });
  Parents parents;
  std::map<int64_t, std::vector<int64_t>> children;
  std::map<int64_t, std::string> names;
  for (const FunctionEvent& e : events) {
    parents[e.id] = -1;
    names[e.id] = e.name;
  }
  std::vector<const FunctionEvent*> open;
  for (const FunctionEvent* const e : order) {
    std::erase_if(open, [&](auto* p) { return p->thread != e->thread; });
    while (!open.empty() &&
           (e->time_range.start_us >= open.back()->time_range.end_us ||
            e->time_range.end_us > open.back()->time_range.end_us)) {
      open.pop_back();
    }
    if (!open.empty()) {
      parents[e->id] = open.back()->id;
      children[open.back()->id].push_back(e->id);
    }
    open.push_back(e);
  }
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const FunctionEvent& e : events) {
      const auto found = parents.find(e.id);
      if (found == parents.end() || found->second < 0) continue;
      const int64_t p = found->second;
      if (names[p] != e.name || children[p].size() != 1) continue;
      children[p] = children[e.id];
      for (const int64_t child : children[p]) parents[child] = p;
      parents.erase(e.id);
      is_changed = true;
    }
  }
  return parents;
}

TEST(EventTreePropertyTest, AgreesWithThePlainRules) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    const std::vector<FunctionEvent> events = Anywhere(random, 80);
    ASSERT_EQ(ParentsOf(Treed(events)), PlainRules(events)) << seed;
  }
}

TEST(EventTreePropertyTest, ChildrenLieWithinTheirParents) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    const EventList events = Treed(Anywhere(random, 80));
    for (size_t i = 0; i < events.size(); ++i) {
      for (const size_t c : events[i].cpu_children) {
        ASSERT_EQ(events[c].cpu_parent, i);
        ASSERT_EQ(events[c].thread, events[i].thread);
        ASSERT_GE(events[c].time_range.start_us, events[i].time_range.start_us);
        ASSERT_LE(events[c].time_range.end_us, events[i].time_range.end_us);
      }
    }
  }
}

TEST(EventTreePropertyTest, SelfTimesSumToWhatTopLevelRangesCover) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    std::vector<FunctionEvent> nested;
    for (int thread = 0; thread < 3; ++thread) {
      Nested(random, thread, 200, thread, nested);
    }
    random.Shuffle(nested);
    for (int i = 0; i < 10; ++i) nested.push_back(Async("async", i, i + 50));
    const EventList events = Treed(std::move(nested));
    double covered_us = 0;
    for (const FunctionEvent& e : events) {
      ASSERT_GE(e.self_cpu_time_total(), 0);
      if (!e.cpu_parent && !e.is_async) covered_us += e.cpu_time_total();
    }
    ASSERT_EQ(events.self_cpu_time_total(), covered_us) << seed;
  }
}

TEST(EventTreePropertyTest, SelfDeviceTimesSumToTheKernelsOfSynchronousEvents) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    std::vector<FunctionEvent> input = Anywhere(random, 80);
    for (FunctionEvent& e : input) e.name += std::to_string(e.id);  // no merges
    const EventList events = Treed(std::move(input), {.use_device = "cuda"});
    double self_us = 0, kernels_us = 0;
    for (const FunctionEvent& e : events) {
      if (e.is_async || e.device_type != DeviceType::kCpu) continue;
      self_us += e.self_device_time_total();
      for (const Kernel& kernel : e.kernels) kernels_us += kernel.duration_us;
    }
    ASSERT_EQ(self_us, kernels_us) << seed;
  }
}

TEST(EventTreePropertyTest, DoesNotDependOnTheOrderOfTheInput) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    std::vector<FunctionEvent> input;
    for (int thread = 0; thread < 3; ++thread) {
      Nested(random, thread, 200, thread, input);
    }
    const Parents expected = ParentsOf(Treed(input));
    random.Shuffle(input);
    ASSERT_EQ(ParentsOf(Treed(input)), expected) << seed;
  }
}

}  // namespace
}  // namespace kymo
