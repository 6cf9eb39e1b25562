#include "profiler/analysis/ranks/wait_calls.h"

#include <algorithm>

namespace kymo::analysis {
namespace {

constexpr size_t kMostThreads = 64;  // that wait at a time

}  // namespace

WaitCalls::WaitCalls(const model::Trace& trace, const RankCalls& calls)
    : trace_(trace), by_rank_(calls.ranks.size()) {
  for (const MpiCall& call : calls.calls) {
    if (call.polled_ns) {
      looked_ns_[call.event] = trace_.end()[call.event] - *call.polled_ns;
    }
    if (call.kind != MpiKind::kWait || call.is_request) continue;
    by_rank_[call.rank].push_back(call.event);
  }
  for (auto& waits : by_rank_) {
    std::ranges::stable_sort(waits, {}, [&](model::EventIndex event) {
      return trace_.start()[event];
    });
  }
}

std::optional<size_t> WaitCalls::Of(model::EventIndex request,
                                    size_t rank) const {
  if ((trace_.flags()[request] & model::kEventAsync) == 0) return std::nullopt;
  const std::vector<model::EventIndex>& waits = by_rank_[rank];
  const TimeNs end = trace_.end()[request];
  const auto after = std::ranges::upper_bound(
      waits, end, {},
      [&](model::EventIndex event) { return trace_.start()[event]; });
  // Threads of a rank may wait at the same time. What a call found complete
  // ends together with it.
  std::optional<size_t> found;
  size_t looks = 0;
  for (auto at = static_cast<size_t>(after - waits.begin());
       at != 0 && looks < kMostThreads; ++looks) {
    --at;
    const TimeNs wait_end = trace_.end()[waits[at]];
    if (wait_end == end) return at;
    if (wait_end > end && !found) found = at;
  }
  return found;
}

WaitCalls::Arrival WaitCalls::ArrivalAt(model::EventIndex call, size_t rank,
                                        TimeNs latest_ns) const {
  const Arrival begin = {.time_ns = trace_.start()[call], .event = call};
  Arrival came = begin;
  if (const auto at = Of(call, rank)) {
    // Also if it polled before: between the two it may have done other work.
    came.event = by_rank_[rank][*at];
    came.time_ns = trace_.start()[came.event];
  } else if (const auto looked = looked_ns_.find(call);
             looked != looked_ns_.end()) {
    came.time_ns = looked->second;
  }
  return came.time_ns <= begin.time_ns || came.time_ns > latest_ns ? begin
                                                                   : came;
}

}  // namespace kymo::analysis
