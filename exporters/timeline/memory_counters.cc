#include "exporters/timeline/memory_counters.h"

#include <cstdint>
#include <map>
#include <tuple>

#include "profiler/analysis/memory/memory_device.h"
#include "profiler/model/folded_memory.h"

namespace kymo::timeline {
namespace {

using analysis::ThinnedCurve;
using model::MemoryRecord;
using model::MemorySource;

struct Series {
  model::TrackIndex track = 0;
  ThinnedCurve curve;
  bool is_told = false;
};

std::string SeriesName(MemorySource source, int8_t device_type,
                       int8_t device_index) {
  switch (source) {
    case MemorySource::kHeap:
      return "Memory: heap";
    case MemorySource::kMapped:
      return "Memory: mapped";
    case MemorySource::kReported:
      break;
  }
  return "Memory: " +
         analysis::MemoryDeviceName(
             {static_cast<DeviceType>(static_cast<uint8_t>(device_type)),
              device_index});
}

}  // namespace

std::vector<MemoryCounter> MemoryCounters(const model::Trace& trace) {
  using Key = std::tuple<int64_t, MemorySource, int8_t, int8_t>;
  std::map<Key, Series> all;
  Key last_key;
  Series* series = nullptr;  // of last_key: records of a track keep together
  for (size_t i = 0; i < trace.memory().size(); ++i) {
    const MemoryRecord& record = trace.memory()[i];
    if (record.event != model::MemoryEvent::kAllocation) continue;
    const Key key(trace.tracks()[record.track].pid, record.source,
                  record.device_type, record.device_index);
    if (series == nullptr || key != last_key) {
      const auto [it, is_new] = all.try_emplace(
          key,
          Series{record.track, ThinnedCurve(trace.start_ns(), trace.end_ns(),
                                            kMaxCounterPoints)});
      series = &it->second;
      last_key = key;
    }
    series->curve.Add({record.time_ns, i, record.total_allocated});
    series->is_told |= record.total_allocated != 0;
  }
  if (trace.folded_memory() != nullptr) {
    for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
      const Key key(trace.tracks()[heap.track].pid, MemorySource::kHeap, 0, -1);
      Series& of_heap =
          all.try_emplace(key,
                          Series{heap.track,
                                 ThinnedCurve(trace.start_ns(), trace.end_ns(),
                                              kMaxCounterPoints)})
              .first->second;
      for (size_t i = 0; i < heap.live.size(); ++i) {
        of_heap.curve.Add({heap.live[i].time_ns, i, heap.live[i].bytes});
        of_heap.is_told |= heap.live[i].bytes != 0;
      }
    }
  }
  std::vector<MemoryCounter> counters;
  for (const auto& [key, one] : all) {
    if (!one.is_told) continue;
    const auto& [pid, source, device_type, device_index] = key;
    counters.push_back({SeriesName(source, device_type, device_index),
                        one.track, one.curve.Points()});
  }
  return counters;
}

}  // namespace kymo::timeline
