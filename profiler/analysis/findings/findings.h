// findings.h - the few things that a performance engineer would say of a trace.
//
//   for (const Finding& finding : FindFindings(trace)) {
//     Print(FindingId(finding.kind), finding.title, finding.next_step);
//   }
//
// Each has its number, its evidence and a next step. The one with most at stake
// is first: see Finding::share; of a job of ranks, the one that names the late
// rank. Ties are broken by kind, then title. There are at most kMostOfAKind of
// a kind. docs/findings.md says when each appears, and why its limits are where
// they are.
//
// A run without anything remarkable has none. Neither has a trace without a
// time, since nothing is a part of it.
//
// Threads: a pure function; the result does not depend on how many there are.
// Cost:    that of the analyses whose numbers it reads (key_averages.h,
//   sampled_functions.h, memory_profile.h, waits.h, device/) and a few passes
//   over the events.
#ifndef KYMO_PROFILER_ANALYSIS_FINDINGS_FINDINGS_H_
#define KYMO_PROFILER_ANALYSIS_FINDINGS_FINDINGS_H_

#include <cstddef>
#include <vector>

#include "profiler/analysis/findings/finding.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/analysis/ranks/lazy_job.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// A fourth one of a kind would hide what else there is.
inline constexpr size_t kMostOfAKind = 3;

std::vector<Finding> FindFindings(const model::Trace& trace);
// The same, with memory profiles and ranks that others read as well.
std::vector<Finding> FindFindings(const model::Trace& trace,
                                  const LazyMemoryProfiles& memory,
                                  const LazyJobOfRanks& ranks);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_FINDINGS_FINDINGS_H_
