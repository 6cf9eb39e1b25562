// memory_counters.h - the memory in use, as counters of a timeline.
//
// The counters follow from the running totals of the memory records. There is
// one for each process and kind of memory:
//
//   Memory: heap      malloc, operator new
//   Memory: mapped    mmap
//   Memory: cpu       the host's memory that the program reported
//   Memory: cuda:0    a device's memory that the program reported
//
// A counter has at most 20 000 points, however many records there are. The
// points are spread over the trace and keep its extremes
// (profiler/analysis/memory/thinned_curve.h). A kind of memory has no counter
// if all its totals are 0, because nobody counted.
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
  model::TrackIndex track = 0;  // the process's first track with records
  std::vector<analysis::CurvePoint> points;
};

// Sorted by process, source and device.
std::vector<MemoryCounter> MemoryCounters(const model::Trace& trace);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_MEMORY_COUNTERS_H_
