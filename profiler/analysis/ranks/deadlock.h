// deadlock.h - ranks of a job that wait for each other for ever.
//
//   if (const auto deadlock = FindDeadlock(job)) {
//     for (const CircleStep& step : deadlock->circle) Print(step.rank);
//   }
//
// A rank is stuck if it was in a call of MPI when the recording ended that
// cannot end before stuck ranks go on: it waits for a message of one of them,
// or to one, or for one that did not come to a collective call. If it waits for
// one or some of several requests, all their ranks must be stuck. A receive
// from MPI_ANY_SOURCE or with MPI_ANY_TAG, and a wait for other requests than
// messages, is never stuck: nobody knows who ends it. A rank that computes, or
// that died before the others began to wait, is not stuck, and neither are
// those that wait for it.
//
// Of a rank that calls MPI in several threads, all of them must be stuck.
// Nothing is known of one-sided calls, and of ranks that are not in the trace.
//
// Units: nanoseconds. Threads: pure functions. Cost: a look at each call.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_DEADLOCK_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_DEADLOCK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/analysis/ranks/job_of_ranks.h"

namespace kymo::analysis {

struct CircleStep {
  size_t rank = 0;     // into RankCalls::ranks
  size_t awaited = 0;  // likewise: that of the next step, or of the first one
  model::EventIndex call = 0;  // in which it waits
  // The request for which it does so; else the call.
  model::EventIndex operation = 0;
  int64_t tag = -1;  // -1: it has none, or it is not known
};

struct Deadlock {
  std::vector<CircleStep> circle;  // the lowest rank first
  size_t others = 0;               // stuck, and not in the circle
  TimeNs since_ns = 0;             // since then, all of the circle wait
  DurationNs waiting_ns = 0;       // of all stuck ranks, since then
};

// The first circle, if there is one.
std::optional<Deadlock> FindDeadlock(const JobOfRanks& job);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_DEADLOCK_H_
