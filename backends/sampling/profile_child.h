// profile_child.h - runs a program under the sampling backend, for tests.
#ifndef KYMO_BACKENDS_SAMPLING_PROFILE_CHILD_H_
#define KYMO_BACKENDS_SAMPLING_PROFILE_CHILD_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::sampling {

struct ChildRun {
  model::TraceShard shard;
  int wait_status = 0;
  int64_t pid = 0;
  DurationNs cpu_time_ns = 0;  // of the child and what it waited for
  DurationNs polling_ns = 0;   // CPU time spent in Poll
};

// Starts argv[0] stopped, as the command does, and samples it to its end.
// `preload` is put into LD_PRELOAD when the session asks for the timer.
absl::StatusOr<ChildRun> ProfileChild(const SessionOptions& options,
                                      const std::vector<std::string>& argv,
                                      const std::string& preload = {});

// Function names of every sample's stack, root first.
std::vector<std::vector<std::string>> SampledStacks(
    const model::TraceShard& shard);

// The weight of the samples with `function` anywhere in the stack (as a whole
// word), as a part of all samples.
double ShareOf(const model::TraceShard& shard, const std::string& function);

// For messages: counters that are not 0, most frequent stacks.
std::string Summary(const model::TraceShard& shard, size_t rows = 12);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PROFILE_CHILD_H_
