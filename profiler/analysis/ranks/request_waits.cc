#include "profiler/analysis/ranks/request_waits.h"

#include <algorithm>

namespace kymo::analysis {

namespace {

constexpr size_t kMostThreads = 64;  // that wait at a time

}  // namespace

RequestWaits::RequestWaits(const model::Trace& trace, const RankCalls& calls,
                           const std::vector<CollectiveOperation>& collectives,
                           const MatchedMessages& messages)
    : trace_(trace), by_rank_(calls.ranks.size()) {
  for (const MpiCall& call : calls.calls) {
    if (call.kind != MpiKind::kWait || call.is_request) continue;
    by_rank_[call.rank].push_back({.event = call.event});
  }
  for (auto& waits : by_rank_) {
    std::ranges::stable_sort(waits, {}, [&](const RequestWait& wait) {
      return trace_.start()[wait.event];
    });
  }
  for (const Message& message : messages.messages) {
    const End receive = {message.receive, message.to};
    const End send = {message.send, message.from};
    CompleteMessage(receive, send, true);
    CompleteMessage(send, receive, false);
  }
  for (const CollectiveOperation& operation : collectives) {
    if (!operation.only_begins) continue;
    for (const CollectivePart& part : operation.parts) {
      const CollectivePart& late = operation.parts[part.awaits];
      if (part.request == model::kNoEvent || &late == &part) continue;
      CompleteCollective({part.request, part.rank}, {late.event, late.rank});
    }
  }
}

// The call of the rank that found the request complete. Null: MPI_Test did, or
// the event is no request.
RequestWait* RequestWaits::WaitOf(const End& request) {
  if ((trace_.flags()[request.event] & model::kEventAsync) == 0) return nullptr;
  std::vector<RequestWait>& waits = by_rank_[request.rank];
  const TimeNs end = trace_.end()[request.event];
  const auto after = std::ranges::upper_bound(
      waits, end, {},
      [&](const RequestWait& wait) { return trace_.start()[wait.event]; });
  // Threads of a rank may wait at the same time. What a call found complete
  // ends together with it.
  RequestWait* found = nullptr;
  size_t looks = 0;
  for (auto at = after; at != waits.begin() && looks < kMostThreads; ++looks) {
    --at;
    const TimeNs wait_end = trace_.end()[at->event];
    if (wait_end == end) return &*at;
    if (wait_end > end && found == nullptr) found = &*at;
  }
  return found;
}

void RequestWaits::CompleteMessage(const End& own, const End& other,
                                   bool receives) {
  RequestWait* const wait = WaitOf(own);
  if (wait == nullptr) return;
  ++wait->messages;
  const TimeNs wait_end = trace_.end()[wait->event];
  TimeNs comes = trace_.start()[other.event];
  // Its sender was through before anybody received.
  if (!receives && comes > wait_end) return;
  End late = other;
  if (const RequestWait* const theirs = WaitOf(other)) {
    const TimeNs begin = trace_.start()[theirs->event];
    if (begin <= wait_end && begin > comes) {
      comes = begin;
      late.event = theirs->event;
    }
  }
  Note(*wait, std::min(comes, wait_end) - trace_.start()[wait->event], late);
}

void RequestWaits::CompleteCollective(const End& own, const End& last) {
  RequestWait* const wait = WaitOf(own);
  if (wait == nullptr) return;
  const TimeNs until =
      std::min(trace_.start()[last.event], trace_.end()[wait->event]);
  Note(*wait, until - trace_.start()[wait->event], last);
}

void RequestWaits::Note(RequestWait& wait, DurationNs waiting,
                        const End& late) {
  if (waiting <= wait.waiting_ns) return;
  wait.waiting_ns = waiting;
  wait.late_rank = late.rank;
  wait.late_event = late.event;
}

}  // namespace kymo::analysis
