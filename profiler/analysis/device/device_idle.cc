#include "profiler/analysis/device/device_idle.h"

#include <algorithm>

#include "profiler/analysis/device/device_work.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

class GapCounter {
 public:
  GapCounter(const Trace& trace, const Launches& launches,
             const IdleOptions& options)
      : trace_(trace), launches_(launches), options_(options) {}

  // Adds the gaps between pieces of work, which are in the order of their
  // starts.
  void Count(const std::vector<EventIndex>& work, IdleTime& idle) const {
    TimeNs last_end = trace_.start()[work.front()];
    for (const EventIndex event : work) {
      const DurationNs gap = trace_.start()[event] - last_end;
      if (gap > 0) Count(event, last_end, gap, idle);
      last_end = std::max(last_end, trace_.end()[event]);
    }
  }

 private:
  void Count(EventIndex next, TimeNs last_end, DurationNs gap,
             IdleTime& idle) const {
    const auto add = [&](DurationNs& ns, int64_t& count, IdleGap& longest) {
      ns += gap;
      ++count;
      if (gap > longest.duration_ns) longest = {last_end, gap, next};
    };
    const EventIndex call = launches_.LauncherOf(next);
    if (call != model::kNoEvent && trace_.start()[call] > last_end) {
      add(idle.host_ns, idle.host_count, idle.host_longest);
    } else if (gap < options_.launch_gap_ns) {
      add(idle.launch_ns, idle.launch_count, idle.launch_longest);
    } else {
      add(idle.dependency_ns, idle.dependency_count, idle.dependency_longest);
    }
  }

  const Trace& trace_;
  const Launches& launches_;
  const IdleOptions& options_;
};

}  // namespace

std::vector<IdleTime> ComputeIdleTimes(const Trace& trace,
                                       const Launches& launches,
                                       const IdleOptions& options) {
  const GapCounter gaps(trace, launches, options);
  std::vector<IdleTime> list;
  for (const Device& device : FindDevices(trace)) {
    std::vector<EventIndex> all;
    for (const DeviceStream& stream : device.streams) {
      all.insert(all.end(), stream.work.begin(), stream.work.end());
    }
    std::stable_sort(all.begin(), all.end(), [&](EventIndex a, EventIndex b) {
      return trace.start()[a] < trace.start()[b];
    });
    IdleTime& whole =
        list.emplace_back(IdleTime{.pid = device.pid, .device = device.index});
    gaps.Count(all, whole);
    for (const DeviceStream& stream : device.streams) {
      IdleTime& idle = list.emplace_back(IdleTime{
          .pid = device.pid, .device = device.index, .stream = stream.id});
      gaps.Count(stream.work, idle);
    }
  }
  return list;
}

}  // namespace kymo::analysis
