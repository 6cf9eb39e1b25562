// sample_weights.h - all samples of a trace, also those that are only added up.
//
//   ForEachSampleWeight(trace, [&](const kymo::model::SampleSum& sum) {
//     cpu_ns[sum.track] += sum.weight_ns;
//     samples[sum.track] += sum.count;
//   });
//
// A long recording keeps its newest samples one by one, and sums of the older
// ones. Whatever adds up samples reads them here; what shows when they were
// taken reads Trace::samples() alone.
#ifndef KYMO_PROFILER_MODEL_SAMPLE_WEIGHTS_H_
#define KYMO_PROFILER_MODEL_SAMPLE_WEIGHTS_H_

#include <algorithm>
#include <cstdint>

#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"
#include "profiler/model/waits.h"

namespace kymo::model {

// add(sum) for each sum, and for each sample as a sum of one.
template <typename Add>
void ForEachSampleWeight(const Trace& trace, const Add& add) {
  for (const SampleSum& sum : trace.sample_sums()) add(sum);
  for (const StackSample& sample : trace.samples()) {
    add(SampleSum{.track = sample.track,
                  .stack = sample.stack,
                  .count = 1,
                  .weight_ns = sample.weight_ns});
  }
}

// How many samples were added up.
inline uint64_t SummedSamples(const Trace& trace) {
  uint64_t count = 0;
  for (const SampleSum& sum : trace.sample_sums()) count += sum.count;
  return count;
}

// How many periods of the sampler the samples stand for: a timer that comes
// late gives one sample for several. Where no period is known, their number.
inline uint64_t SampledPeriods(const Trace& trace) {
  uint64_t count = 0;
  DurationNs weight_ns = 0;
  ForEachSampleWeight(trace, [&](const SampleSum& sum) {
    count += sum.count;
    weight_ns += sum.weight_ns;
  });
  const DurationNs period_ns = trace.sampling_period_ns();
  if (period_ns <= 0 || weight_ns <= 0) return count;
  return std::max(count, static_cast<uint64_t>(weight_ns / period_ns));
}

// How many stacks of samples and of waits there are. Those of both are unwound
// in one way, so what was lost of stacks is a part of all of them.
inline uint64_t CountUnwoundStacks(const Trace& trace) {
  uint64_t count = trace.samples().size() + SummedSamples(trace);
  if (trace.thread_states() == nullptr) return count;
  for (const Wait& wait : trace.thread_states()->waits) {
    count += wait.stack != kEmptyStack ? 1 : 0;
  }
  for (const WaitSum& sum : trace.thread_states()->short_waits) {
    count += sum.stack != kEmptyStack ? sum.count : 0;
  }
  return count;
}

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_SAMPLE_WEIGHTS_H_
