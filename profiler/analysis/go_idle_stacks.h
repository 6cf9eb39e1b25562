// go_idle_stacks.h - tells threads of Go's scheduler that have nothing to run.
//
//   GoIdleStacks idle(trace);
//   if (idle.Has(wait.stack)) ...
//
// Goroutines wait without a thread. So what such a thread waits for is work,
// whatever its system call is.
//
// Threads: none. `trace` must outlive the object.
#ifndef KYMO_PROFILER_ANALYSIS_GO_IDLE_STACKS_H_
#define KYMO_PROFILER_ANALYSIS_GO_IDLE_STACKS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

class GoIdleStacks {
 public:
  explicit GoIdleStacks(const model::Trace& trace);

  bool Has(model::StackId stack);

 private:
  bool Look(model::StackId stack) const;

  const model::Trace& trace_;
  std::vector<model::NameId> functions_;      // those that the trace has
  std::vector<model::NameId> calls_;          // the same
  std::unordered_map<uint32_t, bool> known_;  // by stack
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_GO_IDLE_STACKS_H_
