#include "profiler/model/trace.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/model/thread_states.h"

namespace kymo::model {
namespace {

absl::Status Violation(const char* rule, size_t index) {
  return absl::InternalError(
      absl::StrCat("invalid trace: ", rule, " (at index ", index, ")"));
}

absl::Status CheckColumns(const TraceData& data) {
  const size_t n = data.start.size();
  for (const size_t size :
       {data.end.size(), data.name.size(), data.track.size(),
        data.parent.size(), data.detail.size(), data.type.size(),
        data.scope.size(), data.flags.size()}) {
    if (size != n) return Violation("columns differ in length", size);
  }
  if (data.track_begin.size() != data.tracks.size() + 1 ||
      data.track_begin.front() != 0 || data.track_begin.back() != n) {
    return Violation("track_begin does not cover the events",
                     data.track_begin.size());
  }
  for (size_t t = 0; t < data.tracks.size(); ++t) {
    if (data.track_begin[t] > data.track_begin[t + 1]) {
      return Violation("track_begin is not sorted", t);
    }
  }
  return absl::OkStatus();
}

// Checks the rules that concern one event and its parent, and no other event.
absl::Status CheckEvent(const TraceData& data, TrackIndex t, EventIndex i) {
  if (data.track[i] != t) return Violation("event is on another track", i);
  if (data.end[i] < data.start[i]) return Violation("end before start", i);
  if (Index(data.name[i]) >= data.strings.size()) {
    return Violation("name out of range", i);
  }
  if (data.detail[i] != kNoDetail && data.detail[i] >= data.details.size()) {
    return Violation("detail out of range", i);
  }
  if ((data.flags[i] & kEventFolded) &&
      (data.detail[i] == kNoDetail ||
       data.rare_details.Get(data.details[data.detail[i]]).calls == 0)) {
    return Violation("folded event without calls", i);
  }
  if (i > data.track_begin[t] && data.start[i] < data.start[i - 1]) {
    return Violation("events of a track are not in start order", i);
  }
  const EventIndex parent = data.parent[i];
  if (parent == kNoEvent) return absl::OkStatus();
  if (parent >= i || parent < data.track_begin[t]) {
    return Violation("parent is not an earlier event of the track", i);
  }
  if (!IsRange(data.flags[parent])) {
    return Violation("parent is an instant or asynchronous", i);
  }
  if (data.end[i] > data.end[parent]) {
    return Violation("child ends after its parent", i);
  }
  return absl::OkStatus();
}

// Checks that the children of one range, and the ranges without a parent, do
// not overlap.
absl::Status CheckSiblings(const TraceData& data, TrackIndex t) {
  const EventIndex first = data.track_begin[t];
  const EventIndex last = data.track_begin[t + 1];
  // Where the latest child of each event ended. The last entry is for the
  // ranges without a parent.
  std::vector<TimeNs> reach(last - first + 1,
                            std::numeric_limits<TimeNs>::min());
  for (EventIndex i = first; i < last; ++i) {
    if (data.flags[i] & kEventAsync) continue;
    const EventIndex parent = data.parent[i];
    TimeNs& end = parent == kNoEvent ? reach.back() : reach[parent - first];
    if (data.start[i] < end) return Violation("siblings overlap", i);
    end = data.end[i];
  }
  return absl::OkStatus();
}

absl::Status CheckTables(const TraceData& data) {
  for (size_t i = 0; i < data.details.size(); ++i) {
    const Detail& detail = data.details[i];
    if (detail.args_begin > detail.args_end ||
        detail.args_end > data.args.size()) {
      return Violation("arguments out of range", i);
    }
    if (detail.rare != kNoRare && detail.rare >= data.rare_details.size()) {
      return Violation("detail's rare fields out of range", i);
    }
    if (Index(detail.overload_name) >= data.strings.size() ||
        Index(detail.inputs) >= data.strings.size() ||
        Index(detail.stack) >= data.stacks.stack_count()) {
      return Violation("detail's name, inputs or stack out of range", i);
    }
  }
  for (size_t i = 0; i < data.samples.size(); ++i) {
    const StackSample& sample = data.samples[i];
    if (sample.track >= data.tracks.size() ||
        Index(sample.stack) >= data.stacks.stack_count()) {
      return Violation("sample's track or stack out of range", i);
    }
    if (i > 0 && (data.samples[i - 1].track > sample.track ||
                  (data.samples[i - 1].track == sample.track &&
                   data.samples[i - 1].time_ns > sample.time_ns))) {
      return Violation("samples are not sorted by track and time", i);
    }
  }
  for (size_t i = 0; i < data.sample_sums.size(); ++i) {
    const SampleSum& sum = data.sample_sums[i];
    if (sum.track >= data.tracks.size() ||
        Index(sum.stack) >= data.stacks.stack_count()) {
      return Violation("track or stack of a sum of samples out of range", i);
    }
    if (i > 0 && std::tie(data.sample_sums[i - 1].track,
                          data.sample_sums[i - 1].stack) >=
                     std::tie(sum.track, sum.stack)) {
      return Violation("sums of samples are not sorted by track and stack", i);
    }
  }
  for (size_t i = 0; i < data.memory.size(); ++i) {
    const MemoryRecord& record = data.memory[i];
    if (record.track >= data.tracks.size() ||
        Index(record.stack) >= data.stacks.stack_count()) {
      return Violation("memory record's track or stack out of range", i);
    }
    if (i > 0 && (data.memory[i - 1].track > record.track ||
                  (data.memory[i - 1].track == record.track &&
                   data.memory[i - 1].time_ns > record.time_ns))) {
      return Violation("memory records are not sorted by track and time", i);
    }
    if (record.event == MemoryEvent::kFreeOfUnknown) {
      return Violation("memory record whose size was not found", i);
    }
    if (record.partner != kNoMemory && record.partner >= data.memory.size()) {
      return Violation("memory record's partner out of range", i);
    }
  }
  for (size_t i = 0; i < data.counters.size(); ++i) {
    if (data.counters[i].track >= data.tracks.size()) {
      return Violation("counter's track out of range", i);
    }
  }
  return absl::OkStatus();
}

// Checks what a wait and a sum of waits have in common.
template <typename W>
bool AreIdsInRange(const TraceData& data, const W& wait) {
  return wait.track < data.tracks.size() && wait.kind <= kLastWaitKind &&
         Index(wait.stack) < data.stacks.stack_count() &&
         Index(wait.object_name) < data.strings.size();
}

// Checks another thread of a wait.
bool IsOtherInRange(const TraceData& data, TrackIndex track, StackId stack) {
  return (track == kNoTrack || track < data.tracks.size()) &&
         Index(stack) < data.stacks.stack_count();
}

absl::Status CheckWaits(const TraceData& data, const std::vector<Wait>& waits) {
  for (size_t i = 0; i < waits.size(); ++i) {
    const Wait& wait = waits[i];
    if (!AreIdsInRange(data, wait) ||
        !IsOtherInRange(data, wait.waker, wait.waker_stack) ||
        !IsOtherInRange(data, wait.holder, wait.holder_stack)) {
      return Violation("wait's kind or ids out of range", i);
    }
    if (wait.duration_ns < 0 || wait.runnable_ns < -1 ||
        wait.runnable_ns > wait.duration_ns) {
      return Violation("wait's times do not add up", i);
    }
    if (i == 0) continue;
    const Wait& last = waits[i - 1];
    if (last.track > wait.track ||
        (last.track == wait.track && last.begin_ns > wait.begin_ns)) {
      return Violation("waits are not sorted by track and begin", i);
    }
    if (last.track == wait.track && last.end_ns() > wait.begin_ns) {
      return Violation("waits overlap", i);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckShortWaits(const TraceData& data,
                             const std::vector<WaitSum>& sums) {
  for (size_t i = 0; i < sums.size(); ++i) {
    const WaitSum& sum = sums[i];
    if (!AreIdsInRange(data, sum)) {
      return Violation("short waits' kind or ids out of range", i);
    }
    if (sum.count == 0 || sum.longest_ns < 0 ||
        sum.longest_ns > sum.duration_ns) {
      return Violation("short waits' times do not add up", i);
    }
    if (i > 0 && sums[i - 1].track > sum.track) {
      return Violation("short waits are not sorted by track", i);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckThreadStates(const TraceData& data) {
  if (data.thread_states == nullptr) return absl::OkStatus();
  const ThreadStates& states = *data.thread_states;
  if (absl::Status status = CheckWaits(data, states.waits); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckShortWaits(data, states.short_waits);
      !status.ok()) {
    return status;
  }
  const std::vector<ThreadTimes>& threads = states.threads;
  for (size_t i = 0; i < threads.size(); ++i) {
    const ThreadTimes& times = threads[i];
    if (times.track >= data.tracks.size()) {
      return Violation("thread times' track out of range", i);
    }
    if (i > 0 && threads[i - 1].track >= times.track) {
      return Violation("thread times are not sorted by track", i);
    }
    if (times.creator != kNoTrack && times.creator >= data.tracks.size()) {
      return Violation("thread times' creator out of range", i);
    }
    if (times.on_cpu_ns < 0 || times.runnable_ns < 0 || times.unknown_ns < 0 ||
        times.open_wait_ns < 0 || times.blocked_ns() < times.open_wait_ns) {
      return Violation("thread times do not add up", i);
    }
  }
  return absl::OkStatus();
}

}  // namespace

Trace::Trace(TraceData data) : data_(std::move(data)) {
  data_.stacks.FreeIndex();
}
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

TraceData Trace::Release() && { return std::move(data_); }

std::span<const Process> Trace::processes() const noexcept {
  return data_.processes;
}

const Process* FindProcess(std::span<const Process> processes,
                           int64_t pid) noexcept {
  const auto behind =
      std::ranges::upper_bound(processes, pid, {}, &Process::pid);
  if (behind == processes.begin()) return nullptr;
  const Process& last = *(behind - 1);
  return last.pid == pid ? &last : nullptr;
}

const Process* Trace::FindProcess(int64_t pid) const noexcept {
  return model::FindProcess(data_.processes, pid);
}

std::span<const Arg> Trace::args(EventIndex event) const {
  const Detail* const d = detail(event);
  if (d == nullptr) return {};
  return std::span(data_.args)
      .subspan(d->args_begin, d->args_end - d->args_begin);
}

std::span<const CounterSample> Trace::counters() const noexcept {
  return data_.counters;
}

std::span<const MemoryRecord> Trace::memory() const noexcept {
  return data_.memory;
}

std::span<const AllocationCounts> Trace::allocation_counts() const noexcept {
  return data_.allocation_counts;
}

std::span<const StackSample> Trace::samples() const noexcept {
  return data_.samples;
}

std::span<const SampleSum> Trace::sample_sums() const noexcept {
  return data_.sample_sums;
}

std::span<const Metadata> Trace::metadata() const noexcept {
  return data_.metadata;
}

absl::Status ValidateTrace(const Trace& trace) {
  const TraceData& data = trace.data();
  if (absl::Status status = CheckColumns(data); !status.ok()) return status;
  for (TrackIndex t = 0; t < data.tracks.size(); ++t) {
    for (EventIndex i = data.track_begin[t]; i < data.track_begin[t + 1]; ++i) {
      if (absl::Status status = CheckEvent(data, t, i); !status.ok()) {
        return status;
      }
    }
    if (absl::Status status = CheckSiblings(data, t); !status.ok()) {
      return status;
    }
  }
  if (absl::Status status = CheckThreadStates(data); !status.ok()) {
    return status;
  }
  return CheckTables(data);
}

}  // namespace kymo::model
