// rank_waits.h - who waited for which rank: in MPI_Wait and its like, and in
// all calls of MPI together.
//
//   for (const WaitSum& sum : WaitSums(job)) ...
//   for (const LateRank& late : LateRanks(job)) ...
//
// A call that waits for requests (MPI_Wait, MPI_Waitall and the others) is over
// when the last of their messages is. A receiver waits for the sender until
// that has begun to send; and, if the message was complete only after the
// sender had come to its own MPI_Wait, until then: a large message moves only
// while both ranks are in MPI. A sender waits for the receiver likewise, unless
// it is through before that has begun to receive (small messages need no
// receiver). For a collective operation (MPI_Ibarrier) it waits until the last
// rank has begun it. Of several messages the latest rank counts. The rest of
// the call is transfer. What MPI_Test completes, nobody waited for.
//
// A rank may be late only because it waited for another one itself. So a wait
// is followed back in time through the ranks (rank_walk.h), as far as it is
// long: each part of it is the delay of the rank that was not waiting then. If
// rank 2 waits for rank 1, and that one meanwhile for rank 0, rank 0 is the
// origin.
//
// A rank is late since some time if, with the time cut in two there, others
// waited for it at least four times as much afterwards as before (for a part of
// the time), for five calls of its or more. Of all such cuts, the one counts
// that explains most of how the waiting changed (least squares of two means).
//
// Clocks must be aligned (importers/load does so). A wait can be wrong by the
// bounds of the two ranks' clocks.
//
// Units: nanoseconds. Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_RANK_WAITS_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_RANK_WAITS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/ranks/job_of_ranks.h"

namespace kymo::analysis {

// The calls of one function that waits for requests, of all ranks.
struct WaitSum {
  std::string name;
  int64_t calls = 0;
  int64_t messages = 0;  // that were completed there, with a known partner
  DurationNs total_ns = 0;
  DurationNs waiting_ns = 0;  // for a rank
  // The rank that was waited for longest in all, how long, and how often.
  int64_t late_rank = -1;
  DurationNs late_ns = 0;
  int64_t late_calls = 0;

  DurationNs transfer_ns() const { return total_ns - waiting_ns; }
};

// By waiting time, largest first.
std::vector<WaitSum> WaitSums(const JobOfRanks& job);

// How long other ranks waited in collective calls, in blocking messages and for
// requests.
struct LateRank {
  size_t rank = 0;            // into RankCalls::ranks
  DurationNs waited_ns = 0;   // for this one
  DurationNs delay_ns = 0;    // for whichever one, with this one as the origin
  DurationNs through_ns = 0;  // of the delay: for another one
  DurationNs never_ns = 0;    // of the delay: this one never came
  int64_t never_ranks = 0;    // that waited so
  std::string call;  // the function in which they waited longest for the origin
  DurationNs call_ns = 0;
  // Since when they waited much more than before. Nothing: no such time.
  std::optional<TimeNs> since_ns;
};

// By delay, largest first; without those that nobody waited for. Cost: a walk
// back through each wait, the first time.
std::vector<LateRank> LateRanks(const JobOfRanks& job);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_RANK_WAITS_H_
