#include "exporters/tensorboard/xspace/lines.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <span>

#include "absl/strings/str_cat.h"
#include "exporters/timeline/flame_slices.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/base/strings.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"

namespace kymo::tensorboard {
namespace {

using model::EventIndex;
using model::StackSample;
using model::Trace;
using model::Track;
using model::TrackIndex;
using model::TrackKind;
using model::Wait;

bool IsAsync(const Trace& trace, EventIndex event) {
  return (trace.flags()[event] & model::kEventAsync) != 0;
}

// The events of a track but for the asynchronous ones, and what memory did in
// between. The last item is the end of the track.
class TrackLine final : public LineSource {
 public:
  TrackLine(const Trace& trace, const EventBytes& events,
            const MemoryEvents* memory, TrackIndex track)
      : trace_(trace),
        events_(events),
        memory_(memory),
        first_(trace.track_begin(track)),
        end_(trace.track_end(track)) {
    if (memory != nullptr) points_ = memory->Of(track);
  }

  size_t Begin() override { return size_t{end_} - first_ + 1; }

  void Append(size_t begin, size_t end, std::string& out) const override {
    const EventIndex stop = first_ + static_cast<EventIndex>(end);
    EventIndex event = first_ + static_cast<EventIndex>(begin);
    auto point = std::partition_point(
        points_.begin(), points_.end(),
        [&](const MemoryPoint& p) { return p.position < event; });
    for (; event < stop; ++event) {
      for (; point != points_.end() && point->position == event; ++point) {
        memory_->Append(out, *point);
      }
      if (event < end_ && !IsAsync(trace_, event)) events_.Append(out, event);
    }
  }

 private:
  const Trace& trace_;
  const EventBytes& events_;
  const MemoryEvents* const memory_;
  const EventIndex first_;
  const EventIndex end_;
  std::span<const MemoryPoint> points_;
};

class AsyncLine final : public LineSource {
 public:
  AsyncLine(const Trace& trace, const EventBytes& events, TrackIndex track)
      : trace_(trace),
        events_(events),
        first_(trace.track_begin(track)),
        end_(trace.track_end(track)) {}

  size_t Begin() override { return end_ - first_; }

  void Append(size_t begin, size_t end, std::string& out) const override {
    for (size_t i = begin; i < end; ++i) {
      const EventIndex event = first_ + static_cast<EventIndex>(i);
      if (IsAsync(trace_, event)) events_.Append(out, event);
    }
  }

 private:
  const Trace& trace_;
  const EventBytes& events_;
  const EventIndex first_;
  const EventIndex end_;
};

class FlameLine final : public LineSource {
 public:
  FlameLine(const TraceContext& context, PlaneIds& ids,
            std::span<const StackSample> samples)
      : context_(context), ids_(ids), samples_(samples) {}

  size_t Begin() override {
    const Trace& trace = context_.trace;
    slices_ = timeline::MakeFlameSlices(trace.stacks(), samples_,
                                        timeline::SlicePeriodNs(trace));
    return slices_.size();
  }

  void Append(size_t begin, size_t end, std::string& out) const override {
    const model::StackTable& stacks = context_.trace.stacks();
    for (size_t i = begin; i < end; ++i) {
      const timeline::FlameSlice& slice = slices_[i];
      const model::NameId name = stacks.frame(slice.frame).function;
      AppendPlainEvent(out, ids_.Event(name, NameForm::kPlain),
                       context_.base.OffsetPs(slice.start_ns),
                       context_.base.OffsetPs(slice.end_ns));
    }
  }

  void End() override { slices_ = {}; }

 private:
  const TraceContext context_;
  PlaneIds& ids_;
  const std::span<const StackSample> samples_;
  std::vector<timeline::FlameSlice> slices_;
};

// The waits of a thread, named by kind.
class WaitLine final : public LineSource {
 public:
  // `ids`: of the names, by kind.
  WaitLine(const TimeBase& base, std::span<const Wait> waits,
           std::span<const uint64_t> ids)
      : base_(base), waits_(waits), ids_(ids.begin(), ids.end()) {}

  size_t Begin() override { return waits_.size(); }

  void Append(size_t begin, size_t end, std::string& out) const override {
    for (const Wait& wait : waits_.subspan(begin, end - begin)) {
      AppendPlainEvent(out, ids_[static_cast<size_t>(wait.kind)],
                       base_.OffsetPs(wait.begin_ns),
                       base_.OffsetPs(wait.end_ns()));
    }
  }

 private:
  const TimeBase& base_;
  const std::span<const Wait> waits_;
  const std::vector<uint64_t> ids_;
};

// By track, for all tracks at once.
std::map<TrackIndex, std::span<const Wait>> WaitsByTrack(const Trace& trace) {
  std::map<TrackIndex, std::span<const Wait>> waits;
  if (trace.thread_states() == nullptr) return waits;
  std::span<const Wait> rest = trace.thread_states()->waits;
  while (!rest.empty()) {
    const TrackIndex track = rest.front().track;
    const auto end = std::ranges::find_if(
        rest, [=](const Wait& wait) { return wait.track != track; });
    const auto count = static_cast<size_t>(end - rest.begin());
    waits[track] = rest.first(count);
    rest = rest.subspan(count);
  }
  return waits;
}

// "lock wait" and the like, of the kinds that some wait has; by kind.
std::vector<uint64_t> WaitNames(const Trace& trace, PlaneIds& ids) {
  std::vector<uint64_t> names(static_cast<size_t>(model::kLastWaitKind) + 1);
  if (trace.thread_states() == nullptr) return names;
  for (const Wait& wait : trace.thread_states()->waits) {
    uint64_t& name = names[static_cast<size_t>(wait.kind)];
    if (name != 0) continue;
    name = ids.NewEvent(absl::StrCat(ToAbsl(NameOf(wait.kind)), " wait"));
  }
  return names;
}

std::span<const StackSample> SamplesOf(const Trace& trace, TrackIndex track) {
  const auto samples = trace.samples();
  const auto [begin, end] = std::equal_range(
      samples.begin(), samples.end(), StackSample{.track = track},
      [](const StackSample& a, const StackSample& b) {
        return a.track < b.track;
      });
  return {begin, end};
}

// XProf makes the lines that it derives from a stream whose name says Compute.
std::string StreamKinds(const Trace& trace, TrackIndex track) {
  bool copies = false;
  bool fills = false;
  bool waits = false;
  for (EventIndex i = trace.track_begin(track); i < trace.track_end(track);
       ++i) {
    const model::ActivityType type = trace.type()[i];
    if (type == model::ActivityType::kConcurrentKernel) return "Compute";
    copies |= type == model::ActivityType::kGpuMemcpy;
    fills |= type == model::ActivityType::kGpuMemset;
    waits |= analysis::IsWait(type);
  }
  return copies && fills ? "Memcpy,Memset"
         : copies        ? "Memcpy"
         : fills         ? "Memset"
         : waits         ? "Sync"
                         : "Compute";
}

}  // namespace

LineNames::LineNames(const Trace& trace, const std::vector<TrackIndex>& tracks)
    : trace_(trace) {
  std::map<std::string, std::set<int64_t>> threads;  // by name
  std::set<int64_t> pids;
  for (const TrackIndex t : tracks) {
    const Track& track = trace.tracks()[t];
    ids_.insert(track.id);
    pids.insert(track.pid);
    threads[std::string(trace.Name(track.name))].insert(track.id);
  }
  has_processes_ = pids.size() > 1;
  for (const auto& [name, ids] : threads) {
    if (ids.size() > 1) shared_.insert(name);
  }
}

std::string LineNames::Name(TrackIndex index) const {
  const Track& track = trace_.tracks()[index];
  if (track.kind == TrackKind::kStream) {
    return absl::StrCat("Stream #", track.id, "(", StreamKinds(trace_, index),
                        ")");
  }
  std::string name(trace_.Name(track.name));
  if (name.empty() || shared_.contains(name)) {
    absl::StrAppend(&name, name.empty() ? "thread " : "/", track.id);
  }
  if (has_processes_) absl::StrAppend(&name, " (process ", track.pid, ")");
  return name;
}

LineHead LineNames::OfTrack(TrackIndex track) {
  const int64_t id = trace_.tracks()[track].id;
  const bool fits = id >= 0 && id <= std::numeric_limits<int32_t>::max();
  if (!fits || !taken_.insert(id).second) return {NewId(), Name(track)};
  return {id, Name(track)};
}

LineHead LineNames::Further(TrackIndex track, std::string_view what) {
  return {NewId(), absl::StrCat(Name(track), " ", ToAbsl(what))};
}

int64_t LineNames::NewId() {
  while (ids_.contains(next_id_) || !taken_.insert(next_id_).second) {
    ++next_id_;
  }
  return next_id_;
}

void AddTrackLines(const TraceContext& context, const EventBytes& events,
                   const MemoryEvents* memory, PlaneIds& ids,
                   const std::vector<TrackIndex>& tracks, Plane& plane) {
  const Trace& trace = context.trace;
  LineNames names(trace, tracks);
  const auto waits = WaitsByTrack(trace);
  const std::vector<uint64_t> wait_names = WaitNames(trace, ids);
  for (const TrackIndex track : tracks) {
    const EventIndex begin = trace.track_begin(track);
    const EventIndex end = trace.track_end(track);
    const bool has_memory = memory != nullptr && !memory->Of(track).empty();
    const std::span<const StackSample> samples = SamplesOf(trace, track);
    if (begin != end || has_memory) {
      plane.Add(names.OfTrack(track),
                std::make_unique<TrackLine>(trace, events, memory, track));
    }
    const auto flags = trace.flags().subspan(begin, end - begin);
    const auto is_async = [](uint8_t f) {
      return (f & model::kEventAsync) != 0;
    };
    if (std::any_of(flags.begin(), flags.end(), is_async)) {
      plane.Add(names.Further(track, "(async)"),
                std::make_unique<AsyncLine>(trace, events, track));
    }
    if (!samples.empty()) {
      plane.Add(names.Further(track, "samples"),
                std::make_unique<FlameLine>(context, ids, samples));
    }
    if (const auto found = waits.find(track); found != waits.end()) {
      plane.Add(
          names.Further(track, "waits"),
          std::make_unique<WaitLine>(context.base, found->second, wait_names));
    }
  }
}

}  // namespace kymo::tensorboard
