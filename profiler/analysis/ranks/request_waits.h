// request_waits.h - which rank a call waited for that completes requests.
//
//   const RequestWaits waits(trace, wait_calls, collectives, messages);
//   for (const auto& of_rank : waits.by_rank()) {
//     for (const RequestWait& wait : of_rank) Print(wait.waiting_ns);
//   }
//
// rank_waits.h says when a rank waits, and until when.
//
// Units: nanoseconds. Threads: values. The trace and the calls that wait must
// outlive it.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_REQUEST_WAITS_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_REQUEST_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/messages.h"
#include "profiler/analysis/ranks/wait_calls.h"

namespace kymo::analysis {

// One call that waits for requests, and the latest rank of their messages and
// collective operations.
struct RequestWait {
  model::EventIndex event = 0;
  int64_t messages = 0;
  DurationNs waiting_ns = 0;
  size_t late_rank = 0;  // into RankCalls::ranks
  // What began there at the wait's end; kNoEvent: that rank never came.
  model::EventIndex late_event = 0;
};

class RequestWaits {
 public:
  RequestWaits(const model::Trace& trace, const WaitCalls& wait_calls,
               const std::vector<CollectiveOperation>& collectives,
               const MatchedMessages& messages);

  // For each of RankCalls::ranks, by begin.
  const std::vector<std::vector<RequestWait>>& by_rank() const {
    return by_rank_;
  }

 private:
  // One end of a message, or a part of a collective operation.
  struct End {
    model::EventIndex event = 0;
    size_t rank = 0;
  };

  // Null as WaitCalls::Of.
  RequestWait* WaitOf(const End& request);
  void CompleteMessage(const End& own, const End& other, bool receives);
  void CompleteCollective(const CollectiveOperation& operation);
  void NeverCame(const std::vector<CollectiveOperation>& collectives,
                 const MatchedMessages& messages);
  static void Note(RequestWait& wait, DurationNs waiting, const End& late);

  const model::Trace& trace_;
  const WaitCalls& wait_calls_;
  std::vector<std::vector<RequestWait>> by_rank_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_REQUEST_WAITS_H_
