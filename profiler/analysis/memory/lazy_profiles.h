// lazy_profiles.h - ProfileMemory, made once for all readers of a trace.
//
//   const LazyMemoryProfiles memory(trace);
//   for (const MemoryProfile& profile : memory.Get()) ...   // made here
//   Print(FindFindings(trace, memory));                     // the same ones
//
// Tables, findings, summary.json and the page all show these profiles. For
// 300,000 different stacks each of them took 0.35 s of CPU time to add up.
//
// Threads:   any, concurrently. The first caller of Get() makes the profiles;
//   the others wait.
// Ownership: the profiles live as long as the object that made them.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_LAZY_PROFILES_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_LAZY_PROFILES_H_

#include <mutex>
#include <vector>

#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

class LazyMemoryProfiles {
 public:
  // Reads those of `shared` if it is not null and is of the same trace. Both
  // must outlive this.
  explicit LazyMemoryProfiles(const model::Trace& trace,
                              const LazyMemoryProfiles* shared = nullptr);
  LazyMemoryProfiles(const LazyMemoryProfiles&) = delete;
  LazyMemoryProfiles& operator=(const LazyMemoryProfiles&) = delete;

  const std::vector<MemoryProfile>& Get() const;

 private:
  const model::Trace& trace_;
  const LazyMemoryProfiles* const shared_;  // null: makes its own
  mutable std::once_flag once_;
  mutable std::vector<MemoryProfile> profiles_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_LAZY_PROFILES_H_
