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
  std::vector<std::string> remarks;
  int wait_status = 0;
  int64_t pid = 0;
  DurationNs cpu_time_ns = 0;  // of the child and its waited-for children
  DurationNs polling_ns = 0;   // CPU time spent in Poll
};

// Starts argv[0] stopped, as the command does, and samples it until it ends.
// `preload` goes into LD_PRELOAD if the session asks for the timer.
absl::StatusOr<ChildRun> ProfileChild(const SessionOptions& options,
                                      const std::vector<std::string>& argv,
                                      const std::string& preload = {});

// Function names of every sample's stack, root first.
std::vector<std::vector<std::string>> SampledStacks(
    const model::TraceShard& shard);

// The share of all samples, by weight, whose stack contains `function` as a
// whole word.
double ShareOf(const model::TraceShard& shard, const std::string& function);

// For messages: the counters that are not 0, and the most frequent stacks.
std::string Summary(const model::TraceShard& shard, size_t rows = 12);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PROFILE_CHILD_H_
