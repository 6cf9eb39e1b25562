#include "profiler/analysis/ranks/request_waits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>

namespace kymo::analysis {

RequestWaits::RequestWaits(const model::Trace& trace,
                           const WaitCalls& wait_calls,
                           const std::vector<CollectiveOperation>& collectives,
                           const MatchedMessages& messages)
    : trace_(trace),
      wait_calls_(wait_calls),
      by_rank_(wait_calls.by_rank().size()) {
  for (size_t rank = 0; rank < by_rank_.size(); ++rank) {
    for (const model::EventIndex event : wait_calls_.by_rank()[rank]) {
      by_rank_[rank].push_back({.event = event});
    }
  }
  for (const Message& message : messages.messages) {
    const End receive = {message.receive, message.to};
    const End send = {message.send, message.from};
    CompleteMessage(receive, send, true);
    CompleteMessage(send, receive, false);
  }
  NeverCame(collectives, messages);
  for (const CollectiveOperation& operation : collectives) {
    if (operation.only_begins) CompleteCollective(operation);
  }
}

RequestWait* RequestWaits::WaitOf(const End& request) {
  const auto at = wait_calls_.Of(request.event, request.rank);
  return at ? &by_rank_[request.rank][*at] : nullptr;
}

void RequestWaits::CompleteMessage(const End& own, const End& other,
                                   bool receives) {
  RequestWait* const wait = WaitOf(own);
  if (wait == nullptr) return;
  ++wait->messages;
  const TimeNs wait_end = trace_.end()[wait->event];
  // Its sender was through before anybody received.
  if (!receives && trace_.start()[other.event] > wait_end) return;
  const WaitCalls::Arrival arrival =
      wait_calls_.ArrivalAt(other.event, other.rank, wait_end);
  Note(*wait, std::min(arrival.time_ns, wait_end) - trace_.start()[wait->event],
       {arrival.event, other.rank});
}

// A rank takes part in it when it begins it, and again when it comes to its
// MPI_Wait: what is larger than a few bytes moves only while it is in MPI. So
// who completes it after another rank has come there, waited until then.
void RequestWaits::CompleteCollective(const CollectiveOperation& operation) {
  struct Arrival {
    TimeNs time_ns;
    End end;
  };
  std::vector<Arrival> arrivals;  // of all ranks, by time
  std::vector<size_t> first_of;   // a part's arrivals, before they are sorted
  for (const CollectivePart& part : operation.parts) {
    first_of.push_back(arrivals.size());
    arrivals.push_back({trace_.start()[part.event], {part.event, part.rank}});
    if (part.request == model::kNoEvent) continue;
    const WaitCalls::Arrival came = wait_calls_.ArrivalAt(
        part.request, part.rank, std::numeric_limits<TimeNs>::max());
    if (came.time_ns <= arrivals.back().time_ns) continue;
    arrivals.push_back({came.time_ns, {came.event, part.rank}});
  }
  first_of.push_back(arrivals.size());
  std::vector<Arrival> sorted = arrivals;
  std::ranges::stable_sort(sorted, {}, &Arrival::time_ns);
  for (const CollectivePart& part : operation.parts) {
    if (part.request == model::kNoEvent || part.never_came) continue;
    RequestWait* const wait = WaitOf({part.request, part.rank});
    if (wait == nullptr) continue;
    const CollectivePart& late = operation.parts[part.awaits];
    if (!part.needs_all && &late == &part) continue;
    // Of those that it needs, the last that had come before its end.
    std::span<const Arrival> needed = sorted;
    if (!part.needs_all) {
      needed = std::span(arrivals).subspan(
          first_of[part.awaits],
          first_of[part.awaits + 1] - first_of[part.awaits]);
    }
    auto at = std::ranges::upper_bound(needed, trace_.end()[wait->event], {},
                                       &Arrival::time_ns);
    while (at != needed.begin() && (at - 1)->end.rank == part.rank) --at;
    if (at == needed.begin()) continue;
    --at;
    Note(*wait, at->time_ns - trace_.start()[wait->event], at->end);
  }
}

// All that was open at the recording's end ends there. So no end tells for
// which of a rank's open requests an open call waited.
void RequestWaits::NeverCame(
    const std::vector<CollectiveOperation>& collectives,
    const MatchedMessages& messages) {
  struct Awaited {
    std::set<size_t> senders;  // or ranks of a collective operation
    std::set<size_t> receivers;
    bool is_any_absent = false;
  };
  std::map<RequestWait*, Awaited> awaited;
  const auto waits_for_one = [&](const RequestWait& wait) {
    return trace_.Name(trace_.name()[wait.event]) == "MPI_Wait";
  };
  const auto add = [&](const End& request, size_t other, bool came,
                       std::set<size_t> Awaited::*ranks) {
    if (request.event == model::kNoEvent ||
        (trace_.flags()[request.event] & model::kEventOpen) == 0) {
      return;
    }
    RequestWait* const wait = WaitOf(request);
    // Of several requests, a call that waits for all waits for those that
    // nobody answered. MPI_Wait waits for one, whichever that is.
    if (wait == nullptr || (came && !waits_for_one(*wait))) return;
    (awaited[wait].*ranks).insert(other);
    awaited[wait].is_any_absent |= !came;
  };
  for (const Message& message : messages.messages) {
    add({message.receive, message.to}, message.from,
        message.sender_came != model::kNoEvent, &Awaited::senders);
    add({message.send, message.from}, message.to,
        message.receiver_came != model::kNoEvent, &Awaited::receivers);
  }
  for (const UnansweredCall& call : messages.unanswered) {
    if (call.is_unsure) continue;
    add({call.event, call.rank}, call.awaited, false,
        call.receives ? &Awaited::senders : &Awaited::receivers);
  }
  for (const CollectiveOperation& operation : collectives) {
    for (const CollectivePart& part : operation.parts) {
      add({part.request, part.rank}, operation.AwaitedRank(part),
          !part.never_came, &Awaited::senders);
    }
  }
  for (auto& [wait, ranks] : awaited) {
    std::set<size_t>& possible = ranks.senders;
    // A small message is sent without its receiver.
    if (waits_for_one(*wait) || possible.empty()) {
      possible.merge(ranks.receivers);
    }
    if (!ranks.is_any_absent || possible.size() != 1) continue;
    Note(*wait, trace_.end()[wait->event] - trace_.start()[wait->event],
         {model::kNoEvent, *possible.begin()});
  }
}

void RequestWaits::Note(RequestWait& wait, DurationNs waiting,
                        const End& late) {
  if (waiting <= wait.waiting_ns) return;
  wait.waiting_ns = waiting;
  wait.late_rank = late.rank;
  wait.late_event = late.event;
}

}  // namespace kymo::analysis
