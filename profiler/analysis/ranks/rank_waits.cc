#include "profiler/analysis/ranks/rank_waits.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/messages.h"
#include "profiler/analysis/ranks/request_waits.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

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
    // When ranks start is up to who starts them.
    if (sum.name.starts_with("MPI_Init")) continue;
    for (size_t rank = 0; rank < sum.waited_for_ns.size(); ++rank) {
      add(rank, sum.name, sum.waited_for_ns[rank]);
    }
  }
  const auto name_of = [&](EventIndex event) {
    return trace.Name(trace.name()[event]);
  };
  for (const Message& message : MatchMessages(trace, calls).messages) {
    add(message.from, name_of(message.awaited_in), message.late_sender_ns);
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
