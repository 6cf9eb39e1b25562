#include "profiler/analysis/device/launches.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/activity_type.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::Trace;
using model::TrackIndex;
using model::TrackKind;

// A process and a correlation id.
using LaunchKey = std::pair<int64_t, uint64_t>;

// Calls f(event, key) for each event that has an id, on tracks of this kind.
template <typename F>
void ForEachCorrelated(const Trace& trace, TrackKind kind, const F& f) {
  for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    if (track.kind != kind) continue;
    for (EventIndex i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      const model::Detail* const detail = trace.detail(i);
      if (detail == nullptr || detail->correlation_id == 0) continue;
      f(i, LaunchKey(track.pid, detail->correlation_id));
    }
  }
}

bool HasStreamEvents(const Trace& trace) {
  for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind == TrackKind::kStream &&
        trace.track_begin(t) != trace.track_end(t)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool IsRuntimeCall(ActivityType type) {
  return type == ActivityType::kCudaRuntime ||
         type == ActivityType::kCudaDriver;
}

bool HasLaunchId(ActivityType type) {
  return type == ActivityType::kGpuMemcpy || type == ActivityType::kGpuMemset ||
         type == ActivityType::kConcurrentKernel ||
         type == ActivityType::kCudaSync || type == ActivityType::kCudaEvent ||
         IsRuntimeCall(type);
}

bool IsWait(ActivityType type) {
  return type == ActivityType::kCudaSync || type == ActivityType::kCudaEvent;
}

Launches::Launches(const Trace& trace) : trace_(trace) {
  if (!HasStreamEvents(trace)) return;
  absl::flat_hash_map<LaunchKey, EventIndex> calls;
  ForEachCorrelated(trace, TrackKind::kThread, [&](EventIndex i, LaunchKey k) {
    if (!IsRuntimeCall(trace.type()[i])) return;
    const auto [it, is_new] = calls.try_emplace(k, i);
    if (!is_new && trace.type()[i] == ActivityType::kCudaRuntime) {
      it->second = i;
    }
  });
  launcher_.assign(trace.event_count(), model::kNoEvent);
  is_launcher_.assign(trace.event_count(), false);
  ForEachCorrelated(trace, TrackKind::kStream, [&](EventIndex i, LaunchKey k) {
    if (!HasLaunchId(trace.type()[i])) return;
    const auto it = calls.find(k);
    if (it == calls.end()) return;
    launcher_[i] = it->second;
    is_launcher_[it->second] = true;
  });
}

EventIndex Launches::OperationOf(EventIndex event) const {
  EventIndex at = LauncherOf(event);
  if (at == model::kNoEvent) at = event;
  do {
    at = trace_.parent()[at];
  } while (at != model::kNoEvent && trace_.type()[at] != ActivityType::kCpuOp);
  return at;
}

uint64_t Launches::FileId(EventIndex event) const {
  const int64_t pid = trace_.tracks()[trace_.track()[event]].pid;
  const auto processes = trace_.processes();
  const auto at =
      std::ranges::lower_bound(processes, pid, {}, &model::Process::pid);
  const bool is_known = at != processes.end() && at->pid == pid;
  const auto number = static_cast<uint64_t>((is_known ? at : processes.end()) -
                                            processes.begin());
  return trace_.detail(event)->correlation_id + (number << 32);
}

}  // namespace kymo::analysis
