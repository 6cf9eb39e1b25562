// finding_run.h - what every family of findings knows of the run, and the
// limits that they share.
//
//   if (!run.Matters(self_ns)) return;
//   findings.push_back(run.OfTime(FindingKind::kHotFunction, self_ns));
//
// Threads: one at a time, since Functions() remembers.
#ifndef KYMO_PROFILER_ANALYSIS_FINDINGS_FINDING_RUN_H_
#define KYMO_PROFILER_ANALYSIS_FINDINGS_FINDING_RUN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/averages/sampled_functions.h"
#include "profiler/analysis/findings/finding.h"
#include "profiler/analysis/lock_deadlocks.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/analysis/ranks/lazy_job.h"
#include "profiler/base/time.h"
#include "profiler/model/sample_weights.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// Times below a twentieth (5 %) of the run say nothing: two runs of one program
// on a machine with other work differ by as much, so nobody would see the gain.
inline constexpr int64_t kLeastPart = 20;
// Nobody waits for less than a millisecond, and starting a program takes one.
inline constexpr DurationNs kLeastNs = kNsPerMs;
// Of 100 samples, a share of a fifth is known to within 4 points (one standard
// error). Fewer samples may show another function next time.
inline constexpr size_t kLeastSamples = 100;
// Memory below a mebibyte is what libraries take when they start.
inline constexpr int64_t kLeastBytes = int64_t{1} << 20;

struct FindingRun {
  // All must outlive the object.
  FindingRun(const model::Trace& of, const LazyMemoryProfiles& profiles,
             const LazyJobOfRanks& job)
      : trace(of),
        memory(profiles),
        ranks(job),
        wall_ns(of.end_ns() > of.start_ns() ? of.end_ns() - of.start_ns() : 0) {
  }

  bool Matters(DurationNs ns) const {
    return ns >= kLeastNs && ns >= wall_ns / kLeastPart;
  }

  // Whether CPU samples are enough to go by.
  bool HasSamples() const {
    return trace.samples().size() + model::SummedSamples(trace) >=
           kLeastSamples;
  }

  // Made for the first who asks.
  const std::vector<SampledFunction>& Functions() const {
    if (!functions_) functions_ = SampledFunctions(trace);
    return *functions_;
  }

  const std::vector<LockDeadlock>& Deadlocks() const {
    if (!deadlocks_) deadlocks_ = LockDeadlocks(trace);
    return *deadlocks_;
  }

  // A finding with the time and its share.
  Finding OfTime(FindingKind kind, DurationNs ns) const {
    Finding finding;
    finding.kind = kind;
    finding.time_ns = ns;
    finding.share =
        wall_ns == 0 ? 0
                     : static_cast<double>(ns) / static_cast<double>(wall_ns);
    return finding;
  }

  // The event as evidence.
  Evidence OfEvent(model::EventIndex event) const {
    return {.kind = EvidenceKind::kEvent,
            .name = std::string(trace.EventName(event)),
            .track = trace.track()[event],
            .begin_ns = trace.start()[event],
            .duration_ns = trace.end()[event] - trace.start()[event],
            .event = event};
  }

  const model::Trace& trace;
  const LazyMemoryProfiles& memory;
  const LazyJobOfRanks& ranks;
  const DurationNs wall_ns;  // of the recording's window; never negative

 private:
  mutable std::optional<std::vector<SampledFunction>> functions_;
  mutable std::optional<std::vector<LockDeadlock>> deadlocks_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_FINDINGS_FINDING_RUN_H_
