// call_waits.h - until when each call waited for another rank, and for what.
//
//   const CallWaits waits(trace, collectives, messages, request_waits);
//   if (const LateEvent* const late = waits.Find(call)) Print(late->rank);
//
// It gathers what collectives.h, messages.h and request_waits.h say of calls.
//
// Units: nanoseconds. Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_CALL_WAITS_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_CALL_WAITS_H_

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/messages.h"
#include "profiler/analysis/ranks/request_waits.h"

namespace kymo::analysis {

struct LateEvent {
  TimeNs until_ns = 0;  // so long the call waited, from its begin
  // What the late rank began then. kNoEvent: it never came.
  model::EventIndex event = model::kNoEvent;
  size_t rank = 0;  // into RankCalls::ranks
};

class CallWaits {
 public:
  CallWaits(const model::Trace& trace,
            const std::vector<CollectiveOperation>& collectives,
            const MatchedMessages& messages, const RequestWaits& requests);

  // The last thing that the call waited for. Null: it waited for nobody.
  const LateEvent* Find(model::EventIndex call) const {
    const auto at = waits_.find(call);
    return at == waits_.end() ? nullptr : &at->second;
  }

 private:
  void Add(const model::Trace& trace, model::EventIndex call,
           DurationNs waiting, model::EventIndex late, size_t rank);

  std::unordered_map<model::EventIndex, LateEvent> waits_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_CALL_WAITS_H_
