// wait_calls.h - which call found a request complete.
//
//   const WaitCalls waits(trace, calls);
//   if (const auto at = waits.Of(request, rank)) waits.by_rank()[rank][*at]
//
// A large message moves only while both ranks are in MPI. So a rank that began
// a request may come to the message as late as in its MPI_Wait, or when it
// first looked by MPI_Test.
//
// Threads: values. The trace must outlive it.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_WAIT_CALLS_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_WAIT_CALLS_H_

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "profiler/analysis/ranks/mpi_calls.h"

namespace kymo::analysis {

class WaitCalls {
 public:
  WaitCalls(const model::Trace& trace, const RankCalls& calls);

  // MPI_Wait and its like, for each of RankCalls::ranks, by begin.
  const std::vector<std::vector<model::EventIndex>>& by_rank() const {
    return by_rank_;
  }
  // Into by_rank()[rank]. Nothing: MPI_Test found it complete, or the event is
  // no request.
  std::optional<size_t> Of(model::EventIndex request, size_t rank) const;

  // When a rank was ready for a message, and what it began then.
  struct Arrival {
    TimeNs time_ns = 0;
    model::EventIndex event = 0;
  };
  // The begin of `call`, or, if that is a request, of its MPI_Wait or of its
  // first MPI_Test. A wait that began after `latest_ns` came too late to matter
  // for the message.
  Arrival ArrivalAt(model::EventIndex call, size_t rank,
                    TimeNs latest_ns) const;

 private:
  const model::Trace& trace_;
  std::vector<std::vector<model::EventIndex>> by_rank_;
  std::unordered_map<model::EventIndex, TimeNs> looked_ns_;  // of requests
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_WAIT_CALLS_H_
