// stacks_through.h - tells stacks that have one of some functions, or one whose
// name has a prefix.
//
//   static constexpr std::string_view kFunctions[] = {"runtime.stopm"};
//   StacksThrough idle(trace, kFunctions);
//   if (idle.Has(wait.stack)) ...
//
// Threads: none. `trace` must outlive the object.
#ifndef KYMO_PROFILER_ANALYSIS_STACKS_THROUGH_H_
#define KYMO_PROFILER_ANALYSIS_STACKS_THROUGH_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

class StacksThrough {
 public:
  StacksThrough(const model::Trace& trace,
                std::span<const std::string_view> functions);
  StacksThrough(const model::Trace& trace, std::string_view prefix);

  bool Has(model::StackId stack);

 private:
  bool Look(model::StackId stack) const;

  const model::Trace& trace_;
  std::vector<model::NameId> functions_;      // those of the trace; ascending
  std::unordered_map<uint32_t, bool> known_;  // by stack
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_STACKS_THROUGH_H_
