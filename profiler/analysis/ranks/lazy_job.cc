#include "profiler/analysis/ranks/lazy_job.h"

namespace kymo::analysis {

LazyJobOfRanks::LazyJobOfRanks(const model::Trace& trace,
                               const LazyJobOfRanks* shared)
    : trace_(trace),
      shared_(shared != nullptr && &shared->trace_ == &trace ? shared
                                                             : nullptr) {}

const JobOfRanks& LazyJobOfRanks::Get() const {
  if (shared_ != nullptr) return shared_->Get();
  std::call_once(once_, [this] { job_.emplace(trace_); });
  return *job_;
}

}  // namespace kymo::analysis
