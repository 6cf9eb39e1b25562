// sampled_functions.h - where the CPU time went, by function, from samples.
//
//   const std::vector<SampledFunction> hot = SampledFunctions(trace);
//   // hot.front() is the function that most samples ended in
//
// A sample's weight counts as self time of its innermost function (inlined
// functions included). It counts as total time of every function in the stack:
// once per sample, however often a recursive function is there. Functions are
// told apart by name and module. Samples without frames belong to the function
// with the empty name.
//
// Cost: linear in samples plus distinct stacks. Order: self time, then total
//   time, both descending, then name and module.
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_SAMPLED_FUNCTIONS_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_SAMPLED_FUNCTIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct SampledFunction {
  model::NameId name = model::kEmptyName;
  model::NameId module = model::kEmptyName;  // path of the ELF file
  DurationNs self_cpu_time_ns = 0;
  DurationNs cpu_time_ns = 0;
  int64_t self_sample_count = 0;
  int64_t sample_count = 0;  // samples that contain it

  friend bool operator==(const SampledFunction&,
                         const SampledFunction&) = default;
};

// Without `track`: the functions of the whole trace.
std::vector<SampledFunction> SampledFunctions(
    const model::Trace& trace,
    std::optional<model::TrackIndex> track = std::nullopt);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_SAMPLED_FUNCTIONS_H_
