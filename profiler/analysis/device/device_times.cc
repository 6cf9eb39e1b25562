#include "profiler/analysis/device/device_times.h"

#include <array>
#include <cstddef>
#include <utility>

#include "profiler/analysis/device/device_work.h"
#include "profiler/base/parallel.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

DeviceTimes TimesOf(const Trace& trace, const Device& device) {
  DeviceTimes times{
      .pid = device.pid,
      .index = device.index,
      .stream_count = static_cast<int64_t>(device.streams.size())};
  std::array<std::vector<Interval>, 4> by_kind;
  std::vector<Interval> all;
  for (const DeviceStream& stream : device.streams) {
    for (const EventIndex event : stream.work) {
      const Interval interval{trace.start()[event], trace.end()[event]};
      const WorkKind kind = WorkKindOf(trace, event);
      ++(kind == WorkKind::kMemory ? times.copy_count : times.kernel_count);
      times.summed_ns += interval.end_ns - interval.begin_ns;
      by_kind[static_cast<size_t>(kind)].push_back(interval);
      all.push_back(interval);
    }
  }
  for (std::vector<Interval>& kind : by_kind) kind = Merged(std::move(kind));
  all = Merged(std::move(all));
  const auto of = [&](WorkKind kind) -> const std::vector<Interval>& {
    return by_kind[static_cast<size_t>(kind)];
  };
  times.window_ns = all.back().end_ns - all.front().begin_ns;
  times.busy_ns = TotalNs(all);
  times.idle_ns = times.window_ns - times.busy_ns;
  times.compute_ns = TotalNs(of(WorkKind::kCompute));
  times.communication_ns = TotalNs(of(WorkKind::kCommunication));
  times.memory_ns = TotalNs(of(WorkKind::kMemory));
  times.overlap_ns =
      OverlapNs(of(WorkKind::kCompute), of(WorkKind::kCommunication));
  times.memory_overlap_ns =
      OverlapNs(of(WorkKind::kCompute), of(WorkKind::kMemory));
  return times;
}

}  // namespace

std::vector<DeviceTimes> ComputeDeviceTimes(const Trace& trace) {
  const std::vector<Device> devices = FindDevices(trace);
  std::vector<DeviceTimes> times(devices.size());
  ParallelForEach(devices.size(),
                  [&](size_t i) { times[i] = TimesOf(trace, devices[i]); });
  return times;
}

}  // namespace kymo::analysis
