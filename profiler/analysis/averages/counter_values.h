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
//
// Of a trace that is read in windows, a CounterSum adds up the values of one
// counter. The result is that of the whole trace, but for the last digit of the
// mean.
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_COUNTER_VALUES_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_COUNTER_VALUES_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/base/time.h"
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

class CounterSum {
 public:
  // In the order of time. A time that is earlier than the one before counts as
  // that one: two windows may disagree by nanoseconds.
  void Add(TimeNs time_ns, double value);
  void Add(std::span<const model::CounterSample> samples);
  bool is_empty() const { return values_.sample_count == 0; }
  // Without track and name. REQUIRES: !is_empty().
  CounterValues ValuesUntil(TimeNs end_ns) const;

 private:
  CounterValues values_;  // without the mean
  // These have more digits than a double, so that the sum hardly depends on
  // where windows end, and more range.
  long double sum_ = 0;
  long double value_ns_ = 0;  // values, times how long they were kept
  TimeNs first_ns_ = 0;
  TimeNs last_ns_ = 0;
};

// Calls visit(samples) for each counter, in the order of the trace.
template <typename Visit>
void ForEachCounter(const model::Trace& trace, const Visit& visit) {
  std::span<const model::CounterSample> rest = trace.counters();
  while (!rest.empty()) {
    const auto end = std::find_if(rest.begin(), rest.end(),
                                  [&](const model::CounterSample& sample) {
                                    return sample.track != rest.front().track ||
                                           sample.name != rest.front().name;
                                  });
    const std::span<const model::CounterSample> samples(rest.begin(), end);
    rest = rest.subspan(samples.size());
    visit(samples);
  }
}

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_COUNTER_VALUES_H_
