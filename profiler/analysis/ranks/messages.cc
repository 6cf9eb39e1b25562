#include "profiler/analysis/ranks/messages.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kymo::analysis {
namespace {

// Sender, receiver, communicator, tag: what does not overtake itself.
using Lane = std::tuple<int64_t, int64_t, int64_t, int64_t>;

struct Ends {
  std::vector<const MpiCall*> sends;
  std::vector<const MpiCall*> receives;
  std::vector<const MpiCall*> probes;  // that found a message
};

std::map<Lane, Ends> LanesOf(const model::Trace& trace,
                             const RankCalls& calls) {
  std::map<Lane, Ends> lanes;
  for (const MpiCall& call : calls.calls) {
    const bool is_probe = call.kind == MpiKind::kProbe && call.from >= 0;
    if (call.comm < 0 || (!call.is_message && !is_probe)) continue;
    const int64_t self = calls.ranks[call.rank].rank;
    if (is_probe) {
      lanes[{call.from, self, call.comm, call.receive_tag}].probes.push_back(
          &call);
      continue;
    }
    if (call.to >= 0) {
      lanes[{self, call.to, call.comm, call.send_tag}].sends.push_back(&call);
    }
    if (call.from >= 0) {
      lanes[{call.from, self, call.comm, call.receive_tag}].receives.push_back(
          &call);
    }
  }
  const auto by_begin = [&](const MpiCall* a, const MpiCall* b) {
    return trace.start()[a->event] < trace.start()[b->event];
  };
  const auto by_place = [](const MpiCall* a, const MpiCall* b) {
    return a->receives_at_ns < b->receives_at_ns;
  };
  for (auto& [lane, ends] : lanes) {
    std::stable_sort(ends.sends.begin(), ends.sends.end(), by_begin);
    std::stable_sort(ends.receives.begin(), ends.receives.end(), by_place);
    std::stable_sort(ends.probes.begin(), ends.probes.end(), by_begin);
  }
  return lanes;
}

struct Lateness {
  DurationNs waited_ns = 0;
  // What the late rank began at the end of that; kNoEvent: it never came.
  model::EventIndex came = 0;
};

// For how long `waiting` had been going on when `other` came. A send that was
// over before anybody received waited for nobody.
Lateness WaitedFor(const model::Trace& trace, const WaitCalls& waits,
                   const MpiCall& waiting, const MpiCall& other,
                   bool receives) {
  Lateness late = {.came = other.event};
  const TimeNs begin = trace.start()[waiting.event];
  const TimeNs end = trace.end()[waiting.event];
  // Both are on the way, so the message is a large one.
  if (waiting.is_open && other.is_open && other.is_request &&
      !waits.Of(other.event, other.rank)) {
    return {.waited_ns = waiting.is_request ? 0 : end - begin,
            .came = model::kNoEvent};
  }
  if (waiting.is_request) return late;
  if (!receives && trace.start()[other.event] >= end) return late;
  const WaitCalls::Arrival arrival =
      waits.ArrivalAt(other.event, other.rank, end - 1);
  late.came = arrival.event;
  late.waited_ns =
      std::max<DurationNs>(0, std::min(arrival.time_ns, end) - begin);
  return late;
}

// Requests that receive from MPI_ANY_SOURCE or with MPI_ANY_TAG, of which
// nobody has seen that they are complete. What comes takes the first receive
// that it fits, so a message may be in one of these, and not in a later receive
// that names its sender and tag.
class OpenToAnybody {
 public:
  OpenToAnybody(const model::Trace& trace, const RankCalls& calls,
                const WaitCalls& waits)
      : trace_(trace), calls_(calls), waits_(waits) {
    for (const MpiCall& call : calls.calls) {
      const bool is_one =
          call.is_open && call.is_request && call.comm >= 0 && call.from < 0 &&
          call.to < 0 &&
          trace.EventName(call.event).find("ecv") != std::string_view::npos;
      if (is_one) by_place_[{call.rank, call.comm}].push_back(&call);
    }
    for (auto& [place, open] : by_place_) {
      std::ranges::stable_sort(open, {}, &MpiCall::receives_at_ns);
    }
  }

  // The receive that has the message in place of this one. Null: none. It is
  // known to be so if the message is through, and its receiver still waits.
  const MpiCall* Take(const MpiCall& send, const MpiCall& receive) {
    const auto at = by_place_.find({receive.rank, receive.comm});
    if (at == by_place_.end() || send.is_open || !IsAwaited(receive)) {
      return nullptr;
    }
    std::vector<const MpiCall*>& open = at->second;
    const auto first = std::ranges::find_if(
        open, [&](const MpiCall* call) { return Fits(*call, send); });
    if (first == open.end() ||
        (*first)->receives_at_ns >= receive.receives_at_ns) {
      return nullptr;
    }
    const MpiCall* const taken = *first;
    open.erase(first);
    return taken;
  }

 private:
  // Whether the request is for the sender and the tag of the message.
  bool Fits(const MpiCall& request, const MpiCall& send) const {
    const int64_t sender = calls_.ranks[send.rank].rank;
    return (request.source < 0 || request.source == sender) &&
           (request.receive_tag < 0 || request.receive_tag == send.send_tag);
  }

  // Whether the rank was in a call for it when the recording ended.
  bool IsAwaited(const MpiCall& receive) const {
    if (!receive.is_open || !receive.is_request) return receive.is_open;
    const auto wait = waits_.Of(receive.event, receive.rank);
    return wait && (trace_.flags()[waits_.by_rank()[receive.rank][*wait]] &
                    model::kEventOpen) != 0;
  }

  const model::Trace& trace_;
  const RankCalls& calls_;
  const WaitCalls& waits_;
  // By rank and communicator, in the order in which they were begun.
  std::map<std::pair<size_t, int64_t>, std::vector<const MpiCall*>> by_place_;
};

// The sends and the receives of a lane that belong together, and how many of
// either have a partner.
struct Pairs {
  std::vector<std::pair<const MpiCall*, const MpiCall*>> list;
  size_t sends = 0;
  size_t receives = 0;
};

Pairs PairsOf(const Ends& ends, OpenToAnybody& anybody) {
  Pairs pairs;
  while (pairs.sends < ends.sends.size() &&
         pairs.receives < ends.receives.size()) {
    const MpiCall& send = *ends.sends[pairs.sends++];
    const MpiCall& receive = *ends.receives[pairs.receives];
    const MpiCall* const taken = anybody.Take(send, receive);
    if (taken == nullptr) ++pairs.receives;
    pairs.list.emplace_back(&send, taken == nullptr ? &receive : taken);
  }
  return pairs;
}

// Of the calls of a lane that have no partner.
void AddUnanswered(const model::Trace& trace, const RankCalls& calls,
                   const Lane& lane, const Ends& ends, const Pairs& pairs,
                   MatchedMessages& found) {
  const auto rank_of = [&](int64_t number) {
    const auto at = std::ranges::find(calls.ranks, number, &Rank::rank);
    return static_cast<size_t>(at - calls.ranks.begin());
  };
  const size_t from = rank_of(std::get<0>(lane));
  const size_t to = rank_of(std::get<1>(lane));
  const auto add = [&](const MpiCall& call, bool receives) {
    const size_t awaited = receives ? from : to;
    if (!call.is_open || awaited == calls.ranks.size()) return false;
    const DurationNs time = trace.end()[call.event] - trace.start()[call.event];
    const bool is_unsure =
        !receives && call.from < 0 &&
        trace.EventName(call.event).find("endrecv") != std::string_view::npos;
    found.unanswered.push_back(
        {.event = call.event,
         .rank = call.rank,
         .awaited = awaited,
         .is_request = call.is_request,
         .receives = receives,
         .bytes = receives ? 0 : call.bytes,
         .is_unsure = is_unsure,
         .waiting_ns = call.is_request || is_unsure ? 0 : time});
    return true;
  };
  for (size_t i = pairs.sends; i < ends.sends.size(); ++i) {
    found.sends_alone += !add(*ends.sends[i], false);
  }
  for (size_t i = pairs.receives; i < ends.receives.size(); ++i) {
    found.receives_alone += !add(*ends.receives[i], true);
  }
  if (ends.sends.size() > ends.receives.size()) return;
  for (const MpiCall* const probe : ends.probes) add(*probe, true);
}

// Of calls that send and receive, which waited for the later of both. A rank
// that never came is later than all; if both did not, the receive waited: a
// small message is sent without its receiver.
void CountOnce(std::vector<Message>& messages,
               std::vector<UnansweredCall>& unanswered) {
  std::unordered_set<model::EventIndex> counted;
  for (const bool receives : {true, false}) {
    for (UnansweredCall& call : unanswered) {
      if (call.receives != receives) continue;
      if (!counted.insert(call.event).second) call.waiting_ns = 0;
    }
  }
  std::unordered_map<model::EventIndex, Message*> received_in;
  for (Message& message : messages) {
    if (counted.contains(message.awaited_in)) message.late_sender_ns = 0;
    if (counted.contains(message.send)) message.late_receiver_ns = 0;
    if (message.late_sender_ns > 0) received_in[message.awaited_in] = &message;
  }
  for (Message& message : messages) {
    if (message.late_receiver_ns == 0) continue;
    const auto received = received_in.find(message.send);
    if (received == received_in.end()) continue;
    DurationNs& late_sender_ns = received->second->late_sender_ns;
    (late_sender_ns < message.late_receiver_ns ? late_sender_ns
                                               : message.late_receiver_ns) = 0;
  }
}

// Finds for each receive of a lane, in their order, the probe before it.
class ProbeFinder {
 public:
  ProbeFinder(const model::Trace& trace, const Ends& ends)
      : trace_(trace), next_(ends.probes.begin()), end_(ends.probes.end()) {}

  // The receive itself if there is none.
  const MpiCall& Before(const MpiCall& receive) {
    const MpiCall* found = &receive;
    // A message may be probed several times: the first one waited for it.
    for (; next_ != end_ &&
           trace_.end()[(*next_)->event] <= receive.receives_at_ns;
         ++next_) {
      if (found == &receive) found = *next_;
    }
    return *found;
  }

 private:
  const model::Trace& trace_;
  std::vector<const MpiCall*>::const_iterator next_;
  const std::vector<const MpiCall*>::const_iterator end_;
};

}  // namespace

MatchedMessages MatchMessages(const model::Trace& trace,
                              const RankCalls& calls) {
  return MatchMessages(trace, calls, WaitCalls(trace, calls));
}

MatchedMessages MatchMessages(const model::Trace& trace, const RankCalls& calls,
                              const WaitCalls& waits) {
  MatchedMessages matched;
  OpenToAnybody anybody(trace, calls, waits);
  for (const auto& [lane, ends] : LanesOf(trace, calls)) {
    const Pairs pairs = PairsOf(ends, anybody);
    ProbeFinder probes(trace, ends);
    for (const auto& [sent, received] : pairs.list) {
      const MpiCall& send = *sent;
      const MpiCall& receive = *received;
      const MpiCall& awaited_in = probes.Before(receive);
      const Lateness sender = WaitedFor(trace, waits, awaited_in, send, true);
      const Lateness receiver = WaitedFor(trace, waits, send, receive, false);
      matched.messages.push_back({.send = send.event,
                                  .receive = receive.event,
                                  .awaited_in = awaited_in.event,
                                  .from = send.rank,
                                  .to = receive.rank,
                                  .bytes = send.bytes,
                                  .late_sender_ns = sender.waited_ns,
                                  .late_receiver_ns = receiver.waited_ns,
                                  .sender_came = sender.came,
                                  .receiver_came = receiver.came});
    }
    AddUnanswered(trace, calls, lane, ends, pairs, matched);
  }
  CountOnce(matched.messages, matched.unanswered);
  std::stable_sort(matched.messages.begin(), matched.messages.end(),
                   [](const Message& a, const Message& b) {
                     return std::tie(a.from, a.to) < std::tie(b.from, b.to);
                   });
  return matched;
}

}  // namespace kymo::analysis
