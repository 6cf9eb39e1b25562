// Traces made at random: readers accept what becomes of them, and it has every
// event at its time.
#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/json/test_golden.h"
#include "exporters/perfetto/perfetto_exporter.h"
#include "exporters/perfetto/test_reader.h"
#include "profiler/analysis/test_trace.h"

namespace kymo {
namespace {

class RandomTrace {
 public:
  explicit RandomTrace(uint64_t seed) : random_(seed) {}

  model::Trace Make() {
    t_.SetWindow(0, kEnd);
    t_.AddProcess(100, "app \"one\"");
    for (const int tid : {100, 101, 101, 0}) {
      const auto track = t_.AddThread(100, tid, OddName());
      t_.data().tracks[track].logical_id = Below(3);
      AddTree(track, Below(100), kEnd - 40, 0);
    }
    const auto stream = t_.AddStream(0, 7, /*pid=*/100);
    AddTree(stream, Below(100), kEnd - 40, 7);
    for (model::TrackIndex track = 0; track < 4; ++track) {
      if (track != 2) AddSamples(track);
      for (int i = 0; i < 20; ++i) {
        t_.AddCounter(track, "queue", 1'000 * i, double(i) / 3);
      }
    }
    t_.data().sampling_period_ns = 1'000;
    return std::move(t_).Build();
  }

 private:
  static constexpr TimeNs kEnd = 300'000;

  uint64_t Below(uint64_t limit) { return random_() % limit; }

  std::string OddName() {
    static const char* const kNames[] = {
        "f", "operator\"\"_x", "a\tb\nc", "\xFF bad", "λ", "External id", ""};
    return kNames[Below(std::size(kNames))] +
           (Below(2) ? std::to_string(Below(20)) : "");
  }

  // Ranges that end within `end`, nested at random, some without length.
  void AddTree(model::TrackIndex track, TimeNs start, TimeNs end, int depth) {
    static constexpr model::ActivityType kTypes[] = {
        model::ActivityType::kCpuOp, model::ActivityType::kCudaRuntime,
        model::ActivityType::kConcurrentKernel};
    while (start + 10 < end) {
      const TimeNs stop = start + (Below(9) ? Below(end - start) : 0);
      const uint64_t kind = Below(40);
      const bool is_async = kind == 0;
      t_.AddRange(track, OddName(), start, stop, kTypes[Below(3)],
                  is_async    ? model::kEventAsync
                  : kind == 1 ? model::kEventOpen
                  : kind == 2 ? model::kEventModule
                              : 0);
      if (Below(5) == 0) Describe();
      if (is_async) {
        start += Below(5);
        continue;
      }
      if (depth < 8 && Below(3)) AddTree(track, start, stop, depth + 1);
      if (Below(10) == 0) t_.AddInstant(track, OddName(), stop);
      start = stop + Below(30);
    }
  }

  void Describe() {
    t_.Describe(Below(100),
                {model::Arg::String(t_.Intern(OddName()), t_.Intern(OddName())),
                 model::Arg::Int(t_.Intern(OddName()), 1)});
    model::Detail& detail = t_.data().details.back();
    if (Below(2)) {
      std::string inputs;
      for (int i = Below(40); i >= 0; --i) inputs += char(Below(256));
      detail.inputs = t_.Intern(inputs);
    }
    if (Below(2)) {
      detail.sequence_nr = Below(100);
      detail.forward_thread = Below(4);
    }
    for (int i = Below(5); i > 0; --i) {
      const model::FrameId frame = t_.data().stacks.AddFrame(
          {.function = t_.Intern(OddName()), .file = t_.Intern(OddName())});
      detail.stack = t_.data().stacks.Push(detail.stack, frame);
    }
  }

  void AddSamples(model::TrackIndex track) {
    TimeNs now = Below(1'000);
    std::vector<std::string> stack;
    for (int i = 0; i < 200; ++i) {
      now += Below(20) ? 900 + Below(700) : Below(10'000);
      stack.resize(Below(stack.size() + 1));
      while (Below(4)) stack.push_back(OddName());
      model::StackId id = model::kEmptyStack;
      for (const std::string& function : stack) {
        id = t_.data().stacks.Push(
            id, t_.data().stacks.AddFrame({.function = t_.Intern(function),
                                           .file = t_.Intern(OddName())}));
      }
      t_.data().samples.push_back({track, id, now, 1'000});
    }
  }

  std::mt19937_64 random_;
  TestTrace t_;
};

// Start and end of all slices and instants of events.
std::vector<std::pair<uint64_t, uint64_t>> EventTimes(
    const perfetto::DecodedTrace& trace) {
  std::vector<std::pair<uint64_t, uint64_t>> times;
  for (const perfetto::DecodedTrack& track : trace.tracks) {
    if (track.name == "samples" || track.name == "Recording") continue;
    for (const perfetto::DecodedSlice& slice : track.slices) {
      times.emplace_back(slice.start_ns, slice.end_ns);
    }
  }
  std::sort(times.begin(), times.end());
  return times;
}

TEST(PerfettoRandomTraceTest, ReadersAcceptEveryTrace) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const model::Trace trace = RandomTrace(seed).Make();
    const perfetto::DecodedTrace decoded = perfetto::ReadTrace(
        Export(*NewPerfettoExporter(), trace)["trace.pftrace"]);
    std::vector<std::pair<uint64_t, uint64_t>> expected;
    for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
      expected.emplace_back(trace.start()[i], trace.end()[i]);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(EventTimes(decoded), expected);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace kymo
