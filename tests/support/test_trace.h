// test_trace.h - whole traces by hand, for tests and benchmarks.
//
//   TestTrace t;
//   const TrackIndex main = t.AddThread(/*pid=*/1, /*tid=*/1, "main");
//   t.AddRange(main, "forward", 100, 900);
//   t.AddRange(main, "matmul", 200, 700);      // a child: nested in time
//   const model::Trace trace = std::move(t).Build();
//
// Add threads in the order of the trace. Fill one after the other, each in
// start order. Nesting comes from the times.
#ifndef KYMO_TESTS_SUPPORT_TEST_TRACE_H_
#define KYMO_TESTS_SUPPORT_TEST_TRACE_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"
#include "profiler/model/waits.h"

namespace kymo {

class TestTrace {
 public:
  void AddProcess(int64_t pid, std::string_view name) {
    data_.processes.push_back(
        {.pid = pid, .name = Intern(name), .command_line = Intern(name)});
  }

  model::TrackIndex AddThread(int64_t pid, int64_t tid, std::string_view name) {
    return AddTrack({.kind = model::TrackKind::kThread,
                     .pid = pid,
                     .id = tid,
                     .name = Intern(name)});
  }

  // A stream of process `pid`; -1: of a process that has the device's number.
  model::TrackIndex AddStream(int32_t device, int64_t stream,
                              int64_t pid = -1) {
    return AddTrack({.kind = model::TrackKind::kStream,
                     .pid = pid == -1 ? device : pid,
                     .id = stream,
                     .device_index = device});
  }

  model::EventIndex AddRange(
      model::TrackIndex track, std::string_view name, TimeNs start_ns,
      TimeNs end_ns, model::ActivityType type = model::ActivityType::kCpuOp,
      uint8_t flags = 0) {
    return Add(track, Intern(name), start_ns, end_ns, type, flags);
  }

  void AddAnnotation(model::TrackIndex track, std::string_view name,
                     TimeNs start_ns, TimeNs end_ns) {
    AddRange(track, name, start_ns, end_ns,
             model::ActivityType::kUserAnnotation);
  }

  void AddInstant(model::TrackIndex track, std::string_view name,
                  TimeNs time_ns) {
    AddRange(track, name, time_ns, time_ns,
             model::ActivityType::kCpuInstantEvent, model::kEventInstant);
  }

  // Gives the event that was added last a correlation id and arguments.
  void Describe(uint64_t correlation_id,
                std::initializer_list<model::Arg> args = {}) {
    const uint32_t begin = static_cast<uint32_t>(data_.args.size());
    data_.args.insert(data_.args.end(), args);
    data_.detail.back() = static_cast<uint32_t>(data_.details.size());
    data_.details.push_back(
        {correlation_id, begin, static_cast<uint32_t>(data_.args.size())});
  }

  // Gives the event that was described last its rare fields.
  void SetRare(const model::RareDetail& rare) {
    data_.rare_details.Set(data_.details.back(), rare);
  }

  void AddCounter(model::TrackIndex track, std::string_view name,
                  TimeNs time_ns, double value) {
    data_.counters.push_back({track, Intern(name), time_ns, value});
  }

  // Frames as those of Stack().
  void AddSample(model::TrackIndex track, TimeNs time_ns, DurationNs weight_ns,
                 std::initializer_list<std::string_view> frames,
                 std::string_view module = "/bin/app") {
    data_.samples.push_back({track, Stack(frames, module), time_ns, weight_ns});
  }

  // From here on, the samples so far are only added up. REQUIRES: those of a
  // track and a stack follow one another.
  void AddUpSamples() {
    for (const model::StackSample& sample : data_.samples) {
      auto& sums = data_.sample_sums;
      if (sums.empty() || sums.back().track != sample.track ||
          sums.back().stack != sample.stack) {
        sums.push_back({.track = sample.track, .stack = sample.stack});
      }
      ++sums.back().count;
      sums.back().weight_ns += sample.weight_ns;
    }
    data_.samples.clear();
  }

  // Times of threads, in the order of the trace.
  void SetThreadTimes(std::vector<model::ThreadTimes> threads,
                      uint32_t cpu_count = 0) {
    States().threads = std::move(threads);
    States().cpu_count = cpu_count;
  }

  void SetCpuLimit(const model::CpuLimit& limit) { States().cpu_limit = limit; }
  void SetKymoCpu(DurationNs cpu_ns) { States().kymo_cpu_ns = cpu_ns; }

  // A wait and a sum of waits, in the order of the trace. Frames as AddSample.
  void AddWait(const model::Wait& wait,
               std::initializer_list<std::string_view> frames = {}) {
    States().waits.push_back(wait);
    States().waits.back().stack = Stack(frames);
  }
  void AddShortWaits(const model::WaitSum& sum,
                     std::initializer_list<std::string_view> frames = {}) {
    States().short_waits.push_back(sum);
    States().short_waits.back().stack = Stack(frames);
  }
  void SetMinWait(DurationNs min_wait_ns) {
    States().min_wait_ns = min_wait_ns;
  }

  // Frames by function name, outermost first, all of `module`.
  model::StackId Stack(std::initializer_list<std::string_view> frames,
                       std::string_view module = "/bin/app") {
    model::StackId stack = model::kEmptyStack;
    for (const std::string_view function : frames) {
      stack = data_.stacks.Push(
          stack, data_.stacks.AddFrame(
                     {.function = Intern(function), .module = Intern(module)}));
    }
    return stack;
  }

  void AddMetadata(std::string_view key, std::string_view json) {
    data_.metadata.push_back({Intern(key), Intern(json)});
  }

  void SetWindow(TimeNs start_ns, TimeNs end_ns) {
    data_.start_ns = start_ns;
    data_.end_ns = end_ns;
  }

  model::NameId Intern(std::string_view text) {
    return data_.strings.Intern(text);
  }
  model::TraceData& data() { return data_; }

  model::Trace Build() && {
    if (data_.end_ns == 0) {
      for (const TimeNs end : data_.end) {
        data_.end_ns = std::max(data_.end_ns, end);
      }
    }
    return model::Trace(std::move(data_));
  }

 private:
  model::TrackIndex AddTrack(const model::Track& track) {
    data_.tracks.push_back(track);
    data_.track_begin.push_back(data_.track_begin.back());
    open_.clear();
    return static_cast<model::TrackIndex>(data_.tracks.size() - 1);
  }

  model::EventIndex Add(model::TrackIndex track, model::NameId name,
                        TimeNs start_ns, TimeNs end_ns,
                        model::ActivityType type, uint8_t flags) {
    const model::EventIndex event =
        static_cast<model::EventIndex>(data_.start.size());
    const bool is_async = (flags & model::kEventAsync) != 0;
    while (!is_async && !open_.empty() &&
           (data_.end[open_.back()] <= start_ns ||
            data_.end[open_.back()] < end_ns)) {
      open_.pop_back();
    }
    data_.start.push_back(start_ns);
    data_.end.push_back(end_ns);
    data_.name.push_back(name);
    data_.track.push_back(track);
    data_.parent.push_back(open_.empty() || is_async ? model::kNoEvent
                                                     : open_.back());
    data_.detail.push_back(model::kNoDetail);
    data_.type.push_back(type);
    data_.scope.push_back(model::RecordScope::kFunction);
    data_.flags.push_back(flags);
    data_.track_begin.back() = event + 1;
    if (!is_async && !(flags & model::kEventInstant)) open_.push_back(event);
    return event;
  }

  model::ThreadStates& States() {
    if (states_ == nullptr) {
      states_ = std::make_shared<model::ThreadStates>();
      data_.thread_states = states_;
    }
    return *states_;
  }

  model::TraceData data_;
  std::shared_ptr<model::ThreadStates> states_;  // those of data_
  std::vector<model::EventIndex> open_;
};

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_TRACE_H_
