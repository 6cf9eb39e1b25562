// memory_counters.h - how much memory was in use, as counters of a timeline.
//
// One counter per process and kind of memory, from the records' running totals:
//
//   Memory: heap      malloc, operator new
//   Memory: mapped    mmap
//   Memory: cpu       what the program reported of the host's memory
//   Memory: cuda:0    what it reported of a device's
//
// Each has at most 20 000 points, spread over the trace, that keep its extremes
// (see analysis/thinned_curve.h), however many records there are. A kind whose
// totals nobody told (all 0) has none.
#ifndef KYMO_EXPORTERS_TIMELINE_MEMORY_COUNTERS_H_
#define KYMO_EXPORTERS_TIMELINE_MEMORY_COUNTERS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "profiler/analysis/memory/thinned_curve.h"
#include "profiler/model/trace.h"

namespace kymo::timeline {

inline constexpr size_t kMaxCounterPoints = 20'000;

struct MemoryCounter {
  std::string name;
  model::TrackIndex track = 0;  // the first of the process that has records
  std::vector<analysis::CurvePoint> points;
};

// By process, source and device.
std::vector<MemoryCounter> MemoryCounters(const model::Trace& trace);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_MEMORY_COUNTERS_H_
