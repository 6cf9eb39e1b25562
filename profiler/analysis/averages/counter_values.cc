#include "profiler/analysis/averages/counter_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "profiler/base/time.h"

namespace kymo::analysis {
namespace {

using model::CounterSample;

// `samples` are finite, of one counter, in the order of time, and at least one.
CounterValues ValuesOf(std::span<const CounterSample> samples, TimeNs end_ns) {
  CounterValues values = {.track = samples[0].track,
                          .name = samples[0].name,
                          .sample_count = static_cast<int64_t>(samples.size()),
                          .min = samples[0].value,
                          .max = samples[0].value,
                          .last = samples.back().value};
  // The window can end before a trace's last value if a file says so.
  const TimeNs last_ns = std::max(end_ns, samples.back().time_ns);
  const auto whole = static_cast<double>(last_ns - samples[0].time_ns);
  for (size_t i = 0; i < samples.size(); ++i) {
    const double value = samples[i].value;
    values.min = std::min(values.min, value);
    values.max = std::max(values.max, value);
    const TimeNs until =
        i + 1 < samples.size() ? samples[i + 1].time_ns : last_ns;
    // Values at a single instant share it.
    const double part =
        whole > 0 ? static_cast<double>(until - samples[i].time_ns) / whole
                  : 1 / static_cast<double>(samples.size());
    values.mean += value * part;
  }
  // Sums of parts can be off by a rounding.
  values.mean = std::clamp(values.mean, values.min, values.max);
  return values;
}

}  // namespace

std::vector<CounterValues> ComputeCounterValues(const model::Trace& trace) {
  std::vector<CounterValues> all;
  std::vector<CounterSample> finite;
  const std::span<const CounterSample> counters = trace.counters();
  for (size_t i = 0; i < counters.size(); ++i) {
    if (std::isfinite(counters[i].value)) finite.push_back(counters[i]);
    const bool is_last = i + 1 == counters.size() ||
                         counters[i + 1].track != counters[i].track ||
                         counters[i + 1].name != counters[i].name;
    if (!is_last) continue;
    if (!finite.empty()) all.push_back(ValuesOf(finite, trace.end_ns()));
    finite.clear();
  }
  return all;
}

}  // namespace kymo::analysis
