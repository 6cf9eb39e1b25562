#include "exporters/tensorboard/launches.h"

#include <algorithm>

#include "profiler/model/activity_type.h"

namespace kymo::tensorboard {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::NameId;
using model::TrackKind;

template <typename Value>
std::optional<Value> Find(const std::vector<std::pair<uint64_t, Value>>& pairs,
                          uint64_t id) {
  const auto it = std::lower_bound(
      pairs.begin(), pairs.end(), id,
      [](const auto& pair, uint64_t key) { return pair.first < key; });
  if (it == pairs.end() || it->first != id) return std::nullopt;
  return it->second;
}

std::optional<NameId> OperationAround(const model::Trace& trace,
                                      EventIndex event) {
  while (event != model::kNoEvent) {
    if (trace.type()[event] == ActivityType::kCpuOp) return trace.name()[event];
    event = trace.parent()[event];
  }
  return std::nullopt;
}

}  // namespace

bool HasLaunchId(ActivityType type) {
  switch (type) {
    case ActivityType::kGpuMemcpy:
    case ActivityType::kGpuMemset:
    case ActivityType::kConcurrentKernel:
    case ActivityType::kCudaRuntime:
    case ActivityType::kCudaDriver:
      return true;
    default:
      return false;
  }
}

Launches::Launches(const model::Trace& trace) {
  const auto is_stream = [](const model::Track& track) {
    return track.kind == TrackKind::kStream;
  };
  if (std::none_of(trace.tracks().begin(), trace.tracks().end(), is_stream)) {
    return;
  }
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    const model::Detail* const detail = trace.detail(i);
    if (detail == nullptr || detail->correlation_id == 0) continue;
    if (!HasLaunchId(trace.type()[i])) continue;
    const model::Track& track = trace.tracks()[trace.track()[i]];
    if (is_stream(track)) {
      devices_.emplace_back(detail->correlation_id, track.device_index);
    } else if (const auto operation = OperationAround(trace, i)) {
      operations_.emplace_back(detail->correlation_id, *operation);
    }
  }
  std::sort(operations_.begin(), operations_.end());
  std::sort(devices_.begin(), devices_.end());
}

std::optional<NameId> Launches::Operation(uint64_t correlation_id) const {
  return Find(operations_, correlation_id);
}

std::optional<int32_t> Launches::Device(uint64_t correlation_id) const {
  return Find(devices_, correlation_id);
}

}  // namespace kymo::tensorboard
