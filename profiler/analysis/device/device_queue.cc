#include "profiler/analysis/device/device_queue.h"

#include <algorithm>
#include <cstddef>

#include "profiler/analysis/device/device_work.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

struct Change {
  TimeNs time_ns;
  int step;  // 1 or -1
};

// Measures the queue from its changes, which may be in any order.
void Measure(std::vector<Change>& changes, const QueueOptions& options,
             StreamQueue& queue) {
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) {
              if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
              return a.step > b.step;
            });
  int64_t length = 0;
  int64_t sum = 0;
  double area = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    length += changes[i].step;
    sum += length;
    queue.max_length = std::max(queue.max_length, length);
    if (i + 1 == changes.size()) break;
    const DurationNs lasts = changes[i + 1].time_ns - changes[i].time_ns;
    area += static_cast<double>(lasts) * static_cast<double>(length);
    if (length >= options.full_length) queue.full_ns += lasts;
  }
  queue.mean_length =
      static_cast<double>(sum) / static_cast<double>(changes.size());
  const DurationNs window = changes.back().time_ns - changes.front().time_ns;
  if (window > 0) queue.time_mean_length = area / static_cast<double>(window);
}

void Summarise(std::vector<DurationNs>& delays, LaunchDelay& delay) {
  const size_t middle = (delays.size() - 1) / 2;
  std::nth_element(delays.begin(), delays.begin() + std::ptrdiff_t(middle),
                   delays.end());
  delay.median_ns = delays[middle];
  const auto [min, max] = std::minmax_element(delays.begin(), delays.end());
  delay.min_ns = *min;
  delay.max_ns = *max;
  for (const DurationNs ns : delays) delay.total_ns += ns;
}

}  // namespace

std::vector<StreamQueue> ComputeStreamQueues(const Trace& trace,
                                             const Launches& launches,
                                             const QueueOptions& options) {
  std::vector<StreamQueue> list;
  for (const Device& device : FindDevices(trace)) {
    for (const DeviceStream& stream : device.streams) {
      std::vector<Change> changes;
      std::vector<DurationNs> delays;
      EventIndex last_call = model::kNoEvent;
      for (const EventIndex work : stream.work) {
        const EventIndex call = launches.LauncherOf(work);
        if (call == model::kNoEvent) continue;
        changes.push_back({trace.start()[call], 1});
        changes.push_back({trace.start()[work], -1});
        // The nodes of a graph share one call: the first of them tells the
        // delay.
        if (call == last_call) continue;
        last_call = call;
        delays.push_back(
            std::max<DurationNs>(0, trace.start()[work] - trace.end()[call]));
      }
      if (changes.empty()) continue;
      StreamQueue& queue = list.emplace_back(
          StreamQueue{.pid = device.pid,
                      .device = device.index,
                      .stream = stream.id,
                      .launch_count = static_cast<int64_t>(delays.size())});
      Measure(changes, options, queue);
      Summarise(delays, queue.delay);
    }
  }
  return list;
}

}  // namespace kymo::analysis
