#include "profiler/analysis/ranks/rank_waits.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/messages.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

// One call that waits for requests, and the latest rank of their messages.
struct RequestWait {
  EventIndex event = 0;
  int64_t messages = 0;
  DurationNs waiting_ns = 0;
  size_t late_rank = 0;
};

class RequestWaits {
 public:
  RequestWaits(const Trace& trace, const RankCalls& calls)
      : trace_(trace), by_rank_(calls.ranks.size()) {
    for (const MpiCall& call : calls.calls) {
      if (call.kind != MpiKind::kWait || call.is_request) continue;
      by_rank_[call.rank].push_back({.event = call.event});
    }
    for (auto& waits : by_rank_) {
      std::stable_sort(waits.begin(), waits.end(),
                       [&](const RequestWait& a, const RequestWait& b) {
                         return trace_.start()[a.event] <
                                trace_.start()[b.event];
                       });
    }
    for (const Message& message : MatchMessages(trace, calls).messages) {
      Complete(message.receive, message.to, message.send, message.from, true);
      Complete(message.send, message.from, message.receive, message.to, false);
    }
  }

  const std::vector<std::vector<RequestWait>>& by_rank() const {
    return by_rank_;
  }

 private:
  // The call of the rank that found the request complete. Null: MPI_Test did,
  // or the event is no request.
  RequestWait* WaitOf(EventIndex request, size_t rank) {
    if ((trace_.flags()[request] & model::kEventAsync) == 0) return nullptr;
    std::vector<RequestWait>& waits = by_rank_[rank];
    const TimeNs end = trace_.end()[request];
    const auto after =
        std::upper_bound(waits.begin(), waits.end(), end,
                         [&](TimeNs time, const RequestWait& wait) {
                           return time < trace_.start()[wait.event];
                         });
    if (after == waits.begin()) return nullptr;
    RequestWait& wait = *(after - 1);
    return end <= trace_.end()[wait.event] ? &wait : nullptr;
  }

  // `own` is one end of a message, and `other` the other end.
  void Complete(EventIndex own, size_t rank, EventIndex other,
                size_t other_rank, bool receives) {
    RequestWait* const wait = WaitOf(own, rank);
    if (wait == nullptr) return;
    ++wait->messages;
    const TimeNs wait_end = trace_.end()[wait->event];
    TimeNs comes = trace_.start()[other];
    // Its sender was through before anybody received.
    if (!receives && comes > wait_end) return;
    if (const RequestWait* const theirs = WaitOf(other, other_rank)) {
      const TimeNs begin = trace_.start()[theirs->event];
      if (begin <= wait_end) comes = std::max(comes, begin);
    }
    const DurationNs waiting =
        std::min(comes, wait_end) - trace_.start()[wait->event];
    if (waiting <= wait->waiting_ns) return;
    wait->waiting_ns = waiting;
    wait->late_rank = other_rank;
  }

  const Trace& trace_;
  std::vector<std::vector<RequestWait>> by_rank_;
};

// Which rank was waited for, how long, and how often.
using LateTimes = std::map<size_t, std::pair<DurationNs, int64_t>>;

}  // namespace

std::vector<WaitSum> WaitSums(const Trace& trace, const RankCalls& calls) {
  struct Sum {
    WaitSum result;
    LateTimes late;
  };
  std::map<std::string_view, Sum> by_name;
  const RequestWaits waits(trace, calls);
  for (const auto& of_rank : waits.by_rank()) {
    for (const RequestWait& wait : of_rank) {
      Sum& sum = by_name[trace.Name(trace.name()[wait.event])];
      ++sum.result.calls;
      sum.result.messages += wait.messages;
      sum.result.total_ns +=
          trace.end()[wait.event] - trace.start()[wait.event];
      if (wait.waiting_ns == 0) continue;
      sum.result.waiting_ns += wait.waiting_ns;
      auto& [time, count] = sum.late[wait.late_rank];
      time += wait.waiting_ns;
      ++count;
    }
  }
  std::vector<WaitSum> results;
  for (auto& [name, sum] : by_name) {
    sum.result.name = std::string(name);
    for (const auto& [rank, time] : sum.late) {
      if (time.first <= sum.result.late_ns) continue;
      sum.result.late_rank = calls.ranks[rank].rank;
      std::tie(sum.result.late_ns, sum.result.late_calls) = time;
    }
    results.push_back(std::move(sum.result));
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const WaitSum& a, const WaitSum& b) {
                     return a.waiting_ns > b.waiting_ns;
                   });
  return results;
}

std::vector<LateRank> LateRanks(const Trace& trace, const RankCalls& calls) {
  std::map<size_t, std::map<std::string_view, DurationNs>> waited;
  const auto add = [&](size_t rank, std::string_view call, DurationNs time) {
    if (time > 0) waited[rank][call] += time;
  };
  const std::vector<CollectiveSum> collectives = CollectiveSums(trace, calls);
  for (const CollectiveSum& sum : collectives) {
    for (size_t rank = 0; rank < sum.waited_for_ns.size(); ++rank) {
      add(rank, sum.name, sum.waited_for_ns[rank]);
    }
  }
  const auto name_of = [&](EventIndex event) {
    return trace.Name(trace.name()[event]);
  };
  for (const Message& message : MatchMessages(trace, calls).messages) {
    add(message.from, name_of(message.receive), message.late_sender_ns);
    add(message.to, name_of(message.send), message.late_receiver_ns);
  }
  const RequestWaits waits(trace, calls);
  for (const auto& of_rank : waits.by_rank()) {
    for (const RequestWait& wait : of_rank) {
      add(wait.late_rank, name_of(wait.event), wait.waiting_ns);
    }
  }
  std::vector<LateRank> results;
  for (const auto& [rank, by_call] : waited) {
    LateRank late = {.rank = rank};
    for (const auto& [call, time] : by_call) {
      late.waited_ns += time;
      if (time <= late.call_ns) continue;
      late.call = std::string(call);
      late.call_ns = time;
    }
    results.push_back(std::move(late));
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const LateRank& a, const LateRank& b) {
                     return a.waited_ns > b.waited_ns;
                   });
  return results;
}

}  // namespace kymo::analysis
