#include "exporters/timeline/test_random_trace.h"

#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "profiler/base/op_inputs.h"

namespace kymo {
namespace {

using model::ActivityType;
using model::Arg;
using model::TrackIndex;

constexpr int64_t kPid = 100;
constexpr TrackIndex kThreads = 4;

}  // namespace

std::string RandomTrace::LongName() {
  std::string name = "ns::call<";
  while (name.size() < 65'000) name += "std::pair<int, \"x\">, ";
  return name + "void>(\xF0\x9F\xA6\x8A)";
}

std::string RandomTrace::OddName() {
  static const char* const kNames[] = {"f",
                                       "operator\"\"_x",
                                       "a\tb\nc\x01\x7F",
                                       "\xFF bad \xED\xA0\x80",
                                       "λ \xF0\x9F\x98\x80",
                                       "C:\\d;</script>",
                                       "External id",
                                       ""};
  const size_t which = Below(std::size(kNames));
  return kNames[which] + (OneIn(3) ? "" : std::to_string(Below(20)));
}

double RandomTrace::OddNumber() {
  using Limits = std::numeric_limits<double>;
  static constexpr double kNumbers[] = {
      Limits::quiet_NaN(), Limits::infinity(),   -Limits::infinity(),
      Limits::max(),       Limits::denorm_min(), -0.0};
  const size_t which = Below(2 * std::size(kNumbers));
  return which < std::size(kNumbers) ? kNumbers[which]
                                     : static_cast<double>(Below(1'000)) / 3;
}

// As a program records them, or anything.
std::string RandomTrace::Inputs() {
  std::string bytes;
  if (OneIn(2)) {
    for (uint64_t i = Below(40); i > 0; --i) {
      bytes += static_cast<char>(Below(256));
    }
    return bytes;
  }
  const std::string text = OddName();
  const int64_t sizes[] = {static_cast<int64_t>(Below(5)), 3};
  const int64_t strides[] = {3, 1};
  const TensorMeta tensor = {
      .sizes = sizes, .dtype = DType::kFloat, .strides = strides};
  const Input inputs[] = {Input(OddNumber()), Input(text.c_str()), tensor};
  bytes.resize(EncodedInputBytes(inputs, std::size(inputs)));
  EncodeInputs(inputs, std::size(inputs), bytes.data());
  return bytes;
}

// Gives the range that was added last its details.
void RandomTrace::Describe() {
  if (OneIn(2)) {
    t_.Describe(Below(100));
  } else {
    t_.Describe(
        Below(100),
        {Arg::String(t_.Intern(OddName()), t_.Intern(OddName())),
         Arg::Int(t_.Intern(OddName()), static_cast<int64_t>(random_())),
         Arg::Double(t_.Intern("ratio"), OddNumber()),
         Arg::Json(t_.Intern("list"),
                   t_.Intern(OneIn(2) ? "[1, {\"a\": null}]" : "[no JSON"))});
  }
  model::Detail& detail = t_.data().details.back();
  if (OneIn(2)) detail.inputs = t_.Intern(Inputs());
  if (OneIn(2)) {
    detail.sequence_nr = static_cast<int64_t>(Below(100));
    t_.SetRare({.forward_thread = Below(4)});
  }
  for (uint64_t i = Below(5); i > 0; --i) {
    const model::FrameId frame = t_.data().stacks.AddFrame(
        {.function = t_.Intern(OddName()), .file = t_.Intern(OddName())});
    detail.stack = t_.data().stacks.Push(detail.stack, frame);
  }
}

// Ranges that end within `end`, nested at random.
void RandomTrace::AddTree(TrackIndex track, TimeNs start, TimeNs end,
                          int depth) {
  static constexpr ActivityType kTypes[] = {
      ActivityType::kCpuOp, ActivityType::kCpuOp, ActivityType::kUserAnnotation,
      ActivityType::kCudaRuntime, ActivityType::kNvtxRange};
  while (start + 10 < end) {
    const TimeNs stop =
        start +
        (OneIn(9)
             ? 0
             : static_cast<TimeNs>(Below(static_cast<uint64_t>(end - start))));
    const uint64_t kind = Below(40);
    const bool is_async = kind == 0;
    t_.AddRange(track, OddName(), start, stop, kTypes[Below(std::size(kTypes))],
                is_async    ? model::kEventAsync
                : kind == 1 ? model::kEventOpen
                : kind == 2 ? model::kEventModule
                            : 0);
    if (OneIn(5)) Describe();
    if (is_async) {
      start += static_cast<TimeNs>(Below(5));
      continue;
    }
    if (depth < 8 && !OneIn(3)) AddTree(track, start, stop, depth + 1);
    if (OneIn(10)) t_.AddInstant(track, OddName(), stop);
    start = stop + static_cast<TimeNs>(Below(30));
  }
}

void RandomTrace::AddSteps(TrackIndex track) {
  constexpr TimeNs kStepNs = kEndNs / 4;
  for (int step = 0; step < 4; ++step) {
    const TimeNs start = kStepNs * step;
    t_.AddAnnotation(track, "ProfilerStep#" + std::to_string(step), start,
                     start + kStepNs - 10);
    AddTree(track, start + static_cast<TimeNs>(Below(100)),
            start + kStepNs - 20, 1);
  }
}

void RandomTrace::AddThreads() {
  for (const int tid : {100, 101, 101, 0}) {
    const TrackIndex track = t_.AddThread(kPid, tid, OddName());
    t_.data().tracks[track].logical_id = Below(3);
    if (track == 0) {
      AddSteps(track);
      continue;
    }
    t_.AddRange(track, track == 1 ? LongName() : "whole", 0, kEndNs - 1);
    AddTree(track, static_cast<TimeNs>(Below(100)), kEndNs - 40, 1);
  }
}

void RandomTrace::AddStreams() {
  static constexpr ActivityType kTypes[] = {ActivityType::kConcurrentKernel,
                                            ActivityType::kGpuMemcpy,
                                            ActivityType::kGpuMemset};
  for (const int32_t device : {0, 1}) {
    const TrackIndex track = t_.AddStream(device, 7, kPid);
    for (TimeNs now = 10; now < kEndNs - 2'000;) {
      const TimeNs end = now + static_cast<TimeNs>(Below(1'000));
      t_.AddRange(track, OddName(), now, end, kTypes[Below(std::size(kTypes))]);
      if (!OneIn(4)) Describe();
      now = end + static_cast<TimeNs>(Below(2'000));
    }
  }
}

void RandomTrace::AddSamples(TrackIndex track) {
  TimeNs now = static_cast<TimeNs>(Below(1'000));
  std::vector<std::string> stack;
  for (int i = 0; i < 200; ++i) {
    now += static_cast<TimeNs>(OneIn(20) ? Below(10'000) : 900 + Below(700));
    stack.resize(Below(stack.size() + 1));
    while (!OneIn(4)) stack.push_back(OddName());
    model::StackId id = model::kEmptyStack;
    for (const std::string& function : stack) {
      id = t_.data().stacks.Push(
          id,
          t_.data().stacks.AddFrame({.function = t_.Intern(function),
                                     .file = t_.Intern(OddName()),
                                     .line = static_cast<uint32_t>(Below(3))}));
    }
    t_.data().samples.push_back({track, id, now, 1'000});
  }
}

void RandomTrace::AddCounters(TrackIndex track) {
  for (int i = 0; i < 20; ++i) {
    t_.AddCounter(track, "queue", 1'000 * i, OddNumber());
  }
}

// Blocks of the heap and reports of two devices.
void RandomTrace::AddMemory(TrackIndex track) {
  TimeNs now = static_cast<TimeNs>(Below(1'000));
  int64_t total = 0;
  for (int i = 0; i < 500; ++i) {
    const int64_t bytes = static_cast<int64_t>(Below(1'000)) - 400;
    total += bytes;
    const bool is_heap = OneIn(2);
    const auto event = OneIn(50) ? model::MemoryEvent::kOutOfMemory
                                 : model::MemoryEvent::kAllocation;
    t_.data().memory.push_back(
        {.track = track,
         .event = event,
         .source = is_heap ? model::MemorySource::kHeap
                           : model::MemorySource::kReported,
         .device_type = static_cast<int8_t>(is_heap ? 0 : 1),
         .device_index = static_cast<int8_t>(is_heap ? -1 : Below(2)),
         .time_ns = now,
         .address = random_(),
         .bytes = bytes,
         .total_allocated = total});
    now += static_cast<TimeNs>(Below(400));
  }
}

model::Trace RandomTrace::Make() {
  t_.SetWindow(0, kEndNs);
  t_.AddProcess(kPid, "app \"one\"");
  t_.AddMetadata("distributedInfo", R"({"rank": 1, "world_size": 2})");
  AddThreads();
  AddStreams();
  for (TrackIndex track = 0; track < kThreads; ++track) {
    if (track != 2) AddSamples(track);
    AddCounters(track);
    AddMemory(track);
  }
  t_.data().sampling_period_ns = 1'000;
  return std::move(t_).Build();
}

}  // namespace kymo
