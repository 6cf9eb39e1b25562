#include "profiler/analysis/device/device_work.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::Trace;

bool IsCommunication(std::string_view name) {
  for (const std::string_view library : {"nccl", "rccl", "hccl"}) {
    if (name.substr(0, library.size()) == library) return true;
  }
  return name.find("ncclKernel") != name.npos ||
         name.find("ncclDevKernel") != name.npos;
}

}  // namespace

std::string_view WorkKindName(WorkKind kind) noexcept {
  switch (kind) {
    case WorkKind::kNone:
      return "";
    case WorkKind::kCompute:
      return "compute";
    case WorkKind::kCommunication:
      return "communication";
    case WorkKind::kMemory:
      return "memory";
  }
  return "";
}

WorkKind WorkKindOf(const Trace& trace, EventIndex event) {
  switch (trace.type()[event]) {
    case ActivityType::kGpuMemcpy:
    case ActivityType::kGpuMemset:
      return WorkKind::kMemory;
    case ActivityType::kConcurrentKernel:
      return IsCommunication(trace.EventName(event)) ? WorkKind::kCommunication
                                                     : WorkKind::kCompute;
    default:
      return WorkKind::kNone;
  }
}

std::vector<Device> FindDevices(const Trace& trace) {
  // A stream whose work overlaps has several tracks.
  using StreamKey = std::tuple<int64_t, int32_t, int64_t>;
  std::map<StreamKey, std::vector<EventIndex>> streams;
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    if (track.kind != model::TrackKind::kStream) continue;
    auto& work = streams[{track.pid, track.device_index, track.id}];
    for (EventIndex i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      if (WorkKindOf(trace, i) != WorkKind::kNone) work.push_back(i);
    }
  }
  std::vector<Device> devices;
  for (auto& [key, work] : streams) {
    if (work.empty()) continue;
    const auto [pid, index, id] = key;
    std::stable_sort(work.begin(), work.end(), [&](EventIndex a, EventIndex b) {
      return trace.start()[a] < trace.start()[b];
    });
    if (devices.empty() || devices.back().pid != pid ||
        devices.back().index != index) {
      devices.push_back({.pid = pid, .index = index});
    }
    devices.back().streams.push_back({.id = id, .work = std::move(work)});
  }
  return devices;
}

std::vector<Interval> Merged(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) {
              return std::tie(a.begin_ns, a.end_ns) <
                     std::tie(b.begin_ns, b.end_ns);
            });
  size_t last = 0;
  for (size_t i = 1; i < intervals.size(); ++i) {
    if (intervals[i].begin_ns <= intervals[last].end_ns) {
      intervals[last].end_ns =
          std::max(intervals[last].end_ns, intervals[i].end_ns);
    } else {
      intervals[++last] = intervals[i];
    }
  }
  if (!intervals.empty()) intervals.resize(last + 1);
  return intervals;
}

DurationNs TotalNs(const std::vector<Interval>& merged) {
  DurationNs total = 0;
  for (const Interval& interval : merged) {
    total += interval.end_ns - interval.begin_ns;
  }
  return total;
}

DurationNs OverlapNs(const std::vector<Interval>& a,
                     const std::vector<Interval>& b) {
  DurationNs total = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const TimeNs begin = std::max(a[i].begin_ns, b[j].begin_ns);
    const TimeNs end = std::min(a[i].end_ns, b[j].end_ns);
    if (begin < end) total += end - begin;
    if (a[i].end_ns < b[j].end_ns) {
      ++i;
    } else {
      ++j;
    }
  }
  return total;
}

}  // namespace kymo::analysis
