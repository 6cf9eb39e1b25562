// counter_values.h - the least, mean, greatest and last value of each counter.
//
//   for (const CounterValues& counter : ComputeCounterValues(trace))
//     Print(trace.Name(counter.name), counter.mean);
//
// A counter keeps a value until the next one, the last one until the end of the
// trace's window. The mean is over that time. So the mean of a rate, times the
// time from its first value on, is what was counted.
//
// Values that are not finite are left out, as if the counter had kept its value
// before.
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_COUNTER_VALUES_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_COUNTER_VALUES_H_

#include <cstdint>
#include <vector>

#include "profiler/model/records.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct CounterValues {
  model::TrackIndex track = 0;
  model::NameId name = model::kEmptyName;
  int64_t sample_count = 0;  // 1 or more
  double min = 0;
  double mean = 0;
  double max = 0;
  double last = 0;
};

// In the order of the trace: by track, then by name.
std::vector<CounterValues> ComputeCounterValues(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_COUNTER_VALUES_H_
