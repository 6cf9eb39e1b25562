#include "profiler/analysis/memory/lazy_profiles.h"

#include "profiler/base/parallel.h"

namespace kymo::analysis {

LazyMemoryProfiles::LazyMemoryProfiles(const model::Trace& trace,
                                       const LazyMemoryProfiles* shared)
    : trace_(trace),
      shared_(shared != nullptr && &shared->trace_ == &trace ? shared
                                                             : nullptr) {}

const std::vector<MemoryProfile>& LazyMemoryProfiles::Get() const {
  if (shared_ != nullptr) return shared_->Get();
  std::call_once(once_, [this] {
    // Without records there are no loops, and no threads to start for them.
    if (trace_.memory().empty() && trace_.folded_memory() == nullptr) {
      profiles_ = ProfileMemory(trace_);
      return;
    }
    // Isolated: a thread that helps with these loops must not take another task
    // that waits for them.
    Isolated([this] { profiles_ = ProfileMemory(trace_); });
  });
  return profiles_;
}

}  // namespace kymo::analysis
