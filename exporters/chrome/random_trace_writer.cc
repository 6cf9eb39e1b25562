// Exports a trace made at random into the folder of argv[1], for
// chrome_check.py: threads, lanes, odd names, instants, what operations carry,
// flows, samples, counters, memory.
#include <cstdio>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "exporters/chrome/chrome_exporter.h"
#include "profiler/analysis/test_trace.h"
#include "profiler/base/op_inputs.h"

namespace kymo {
namespace {

std::mt19937_64 g_random(3);

uint64_t Below(uint64_t limit) { return g_random() % limit; }

std::string OddName() {
  static const char* const kNames[] = {
      "f", "operator\"\"_x", "a\tb\nc", "\xFF bad", "λ", "C:\\d", "</script>"};
  return kNames[Below(std::size(kNames))] + std::to_string(Below(20));
}

// Inputs as a program records them, or anything.
std::string Inputs() {
  std::string bytes;
  if (Below(2)) {
    for (int i = Below(40); i >= 0; --i) bytes += static_cast<char>(Below(256));
    return bytes;
  }
  const std::string text = OddName();
  const Input inputs[] = {Input(0.1 * Below(100)), Input(text.c_str())};
  bytes.resize(EncodedInputBytes(inputs, std::size(inputs)));
  EncodeInputs(inputs, std::size(inputs), bytes.data());
  return bytes;
}

// What the range that was added last carries.
void Describe(TestTrace& t) {
  if (Below(3)) {
    t.Describe(Below(100));
  } else {
    t.Describe(Below(100),
               {model::Arg::String(t.Intern(OddName()), t.Intern(OddName())),
                model::Arg::Int(t.Intern("Input Dims"), 1)});
  }
  model::Detail& detail = t.data().details.back();
  if (Below(2)) detail.inputs = t.Intern(Inputs());
  if (Below(2)) {
    detail.sequence_nr = Below(1'000);
    detail.forward_thread = Below(4);
  }
  for (int i = Below(5); i > 0; --i) {
    const model::FrameId frame = t.data().stacks.AddFrame(
        {.function = t.Intern(OddName()), .file = t.Intern(OddName())});
    detail.stack = t.data().stacks.Push(detail.stack, frame);
  }
}

// Ranges that end within `end`, nested at random.
void AddTree(TestTrace& t, model::TrackIndex track, TimeNs start, TimeNs end,
             int depth) {
  while (start + 10 < end) {
    const TimeNs stop = start + 1 + Below(end - start);
    t.AddRange(track, OddName(), start, stop,
               Below(9) ? model::ActivityType::kCpuOp
                        : model::ActivityType::kUserAnnotation,
               Below(50)  ? 0
               : Below(2) ? model::kEventOpen
                          : model::kEventModule);
    if (Below(5) == 0) Describe(t);
    if (depth < 8 && Below(3)) AddTree(t, track, start, stop, depth + 1);
    if (Below(10) == 0) t.AddInstant(track, OddName(), stop);
    start = stop + Below(30);
  }
}

void AddSamples(TestTrace& t, model::TrackIndex track) {
  TimeNs now = Below(1'000);
  std::vector<std::string> stack;
  for (int i = 0; i < 3'000; ++i) {
    now += Below(20) ? 900 + Below(700) : Below(10'000);
    stack.resize(Below(stack.size() + 1));
    while (Below(4)) stack.push_back("fn" + std::to_string(Below(9)));
    model::StackId id = model::kEmptyStack;
    for (const std::string& function : stack) {
      id = t.data().stacks.Push(
          id, t.data().stacks.AddFrame({.function = t.Intern(function),
                                        .line = uint32_t(Below(3))}));
    }
    t.data().samples.push_back({track, id, now, 1'000});
  }
}

// Blocks of the heap and reports of two devices, in start order.
void AddMemory(TestTrace& t, model::TrackIndex track) {
  TimeNs now = Below(1'000);
  int64_t total = 0;
  for (int i = 0; i < 2'000; ++i) {
    const int64_t bytes = static_cast<int64_t>(Below(1'000)) - 400;
    total += bytes;
    const bool is_heap = Below(2) != 0;
    t.data().memory.push_back(
        {.track = track,
         .event = Below(50) ? model::MemoryEvent::kAllocation
                            : model::MemoryEvent::kOutOfMemory,
         .source = is_heap ? model::MemorySource::kHeap
                           : model::MemorySource::kReported,
         .device_type = static_cast<int8_t>(is_heap ? 0 : 1),
         .device_index = static_cast<int8_t>(is_heap ? -1 : Below(2)),
         .time_ns = now,
         .address = g_random(),
         .bytes = bytes,
         .total_allocated = total});
    now += Below(1'000);
  }
}

model::Trace MakeTrace() {
  TestTrace t;
  t.SetWindow(0, 2'000'000);
  t.AddProcess(100, "app \"one\"");
  for (const int tid : {100, 101, 101, 102}) {
    const auto track = t.AddThread(100, tid, "thr\"ead");
    t.data().tracks[track].logical_id = static_cast<uint64_t>(tid - 99);
    AddTree(t, track, Below(100), 2'000'000 - 40, 0);
  }
  for (model::TrackIndex track = 0; track < 4; ++track) {
    if (track != 2) AddSamples(t, track);
    for (int i = 0; i < 50; ++i) {
      t.AddCounter(track, "queue", 1'000 * i, double(i) / 3);
    }
    AddMemory(t, track);
  }
  t.data().sampling_period_ns = 1'000;
  return std::move(t).Build();
}

int Main(int argc, char** argv) {
  if (argc != 2) return 2;
  OutputDirectory out(argv[1]);
  const auto files = NewChromeExporter()->Export(MakeTrace(), {}, out);
  if (files.ok()) return 0;
  std::fprintf(stderr, "%s\n", files.status().ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace kymo

int main(int argc, char** argv) { return kymo::Main(argc, argv); }
