#include "profiler/analysis/averages/counter_values.h"

#include <cmath>

namespace kymo::analysis {

void CounterSum::Add(TimeNs time_ns, double value) {
  if (!std::isfinite(value)) return;
  if (is_empty()) {
    first_ns_ = last_ns_ = time_ns;
    values_.min = values_.max = value;
  }
  if (time_ns > last_ns_) {
    value_ns_ += static_cast<long double>(values_.last) *
                 static_cast<long double>(time_ns - last_ns_);
    last_ns_ = time_ns;
  }
  ++values_.sample_count;
  values_.min = std::min(values_.min, value);
  values_.max = std::max(values_.max, value);
  values_.last = value;
  sum_ += value;
}

void CounterSum::Add(std::span<const model::CounterSample> samples) {
  for (const model::CounterSample& sample : samples) {
    Add(sample.time_ns, sample.value);
  }
}

CounterValues CounterSum::ValuesUntil(TimeNs end_ns) const {
  CounterSum whole = *this;
  // The window can end before a trace's last value if a file says so.
  whole.Add(std::max(end_ns, last_ns_), values_.last);
  const auto whole_ns = static_cast<long double>(whole.last_ns_ - first_ns_);
  CounterValues values = values_;
  // Values at a single instant share it.
  values.mean = static_cast<double>(
      whole_ns > 0 ? whole.value_ns_ / whole_ns
                   : sum_ / static_cast<long double>(values_.sample_count));
  // Sums of parts can be off by a rounding.
  values.mean = std::clamp(values.mean, values.min, values.max);
  return values;
}

std::vector<CounterValues> ComputeCounterValues(const model::Trace& trace) {
  std::vector<CounterValues> all;
  ForEachCounter(trace, [&](std::span<const model::CounterSample> samples) {
    CounterSum sum;
    sum.Add(samples);
    if (sum.is_empty()) return;
    all.push_back(sum.ValuesUntil(trace.end_ns()));
    all.back().track = samples.front().track;
    all.back().name = samples.front().name;
  });
  return all;
}

}  // namespace kymo::analysis
