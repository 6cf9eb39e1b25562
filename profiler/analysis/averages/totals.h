// totals.h - how much a trace holds, overall and per track.
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_TOTALS_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_TOTALS_H_

#include <cstdint>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct TrackTotals {
  int64_t range_count = 0;  // asynchronous ranges included
  int64_t instant_count = 0;
  // Time that top-level ranges cover; time that several cover counts once.
  // Asynchronous ranges do not count.
  DurationNs top_level_ns = 0;
  int64_t sample_count = 0;
  DurationNs sampled_ns = 0;  // CPU time that the samples stand for
};

struct Totals {
  DurationNs profiled_ns = 0;  // length of the recording's window
  int64_t range_count = 0;
  int64_t instant_count = 0;
  int64_t counter_sample_count = 0;
  int64_t sample_count = 0;
  DurationNs sampled_ns = 0;
  DurationNs cpu_top_level_ns = 0;     // sums over the tracks of threads
  DurationNs device_top_level_ns = 0;  // and of device streams
  std::vector<TrackTotals> tracks;     // one per track of the trace
};

Totals ComputeTotals(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_TOTALS_H_
