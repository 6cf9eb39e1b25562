#include "profiler/analysis/ranks/collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace kymo::analysis {
namespace {

struct Part {
  size_t rank = 0;
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
};

// All calls of one operation.
struct Operation {
  model::NameId name = model::kEmptyName;
  std::vector<Part> parts;
};

// The collective calls of each communicator, in the order of their ranks.
// Calls that only begin an operation count for the order, too.
std::map<int64_t, std::vector<Operation>> OperationsOf(
    const model::Trace& trace, const RankCalls& calls) {
  std::map<int64_t, std::vector<std::vector<const MpiCall*>>> by_comm;
  for (const MpiCall& call : calls.calls) {
    if (call.kind != MpiKind::kCollective || call.is_request) continue;
    auto& ranks = by_comm[call.comm];
    ranks.resize(calls.ranks.size());
    ranks[call.rank].push_back(&call);
  }
  std::map<int64_t, std::vector<Operation>> operations;
  for (auto& [comm, ranks] : by_comm) {
    std::vector<Operation>& of_comm = operations[comm];
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      auto& own = ranks[rank];
      // Threads of a rank may take turns.
      std::stable_sort(
          own.begin(), own.end(), [&](const MpiCall* a, const MpiCall* b) {
            return trace.start()[a->event] < trace.start()[b->event];
          });
      if (of_comm.size() < own.size()) of_comm.resize(own.size());
      for (size_t i = 0; i < own.size(); ++i) {
        const model::EventIndex event = own[i]->event;
        of_comm[i].name = trace.name()[event];
        of_comm[i].parts.push_back(
            {rank, trace.start()[event], trace.end()[event]});
      }
    }
  }
  return operations;
}

class Summer {
 public:
  Summer(const model::Trace& trace, const RankCalls& calls, int64_t comm)
      : trace_(trace), calls_(calls), comm_(comm) {}

  void Add(const Operation& operation, size_t members) {
    auto [at, is_new] = sums_.try_emplace(operation.name);
    Sum& sum = at->second;
    if (is_new) {
      sum.result.name = std::string(trace_.Name(operation.name));
      sum.result.comm = comm_;
      sum.result.ranks = static_cast<int64_t>(members);
      sum.late.resize(calls_.ranks.size());
    }
    ++sum.result.operations;
    sum.result.incomplete += operation.parts.size() < members;
    const Part* last = &operation.parts.front();
    for (const Part& part : operation.parts) {
      if (part.begin_ns > last->begin_ns) last = &part;
    }
    DurationNs waiting = 0;
    for (const Part& part : operation.parts) {
      sum.result.total_ns += part.end_ns - part.begin_ns;
      // A call without a barrier may end before the last rank enters.
      waiting += std::min(last->begin_ns, part.end_ns) - part.begin_ns;
    }
    sum.result.waiting_ns += waiting;
    sum.late[last->rank].first += waiting;
    ++sum.late[last->rank].second;
  }

  void Finish(std::vector<CollectiveSum>& results) {
    for (auto& [name, sum] : sums_) {
      for (const auto& [time, operations] : sum.late) {
        sum.result.waited_for_ns.push_back(time);
      }
      const auto worst = std::max_element(sum.late.begin(), sum.late.end());
      if (worst->second > 0) {
        sum.result.late_rank = calls_.ranks[worst - sum.late.begin()].rank;
        sum.result.late_ns = worst->first;
        sum.result.late_operations = worst->second;
      }
      results.push_back(std::move(sum.result));
    }
  }

 private:
  struct Sum {
    CollectiveSum result;
    // For each rank: how long others waited for it, and how often.
    std::vector<std::pair<DurationNs, int64_t>> late;
  };

  const model::Trace& trace_;
  const RankCalls& calls_;
  const int64_t comm_;
  std::map<model::NameId, Sum> sums_;
};

}  // namespace

std::vector<CollectiveSum> CollectiveSums(const model::Trace& trace,
                                          const RankCalls& calls) {
  std::vector<CollectiveSum> results;
  for (const auto& [comm, operations] : OperationsOf(trace, calls)) {
    std::set<size_t> members;
    for (const Operation& operation : operations) {
      for (const Part& part : operation.parts) members.insert(part.rank);
    }
    Summer summer(trace, calls, comm);
    for (const Operation& operation : operations) {
      summer.Add(operation, members.size());
    }
    summer.Finish(results);
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const CollectiveSum& a, const CollectiveSum& b) {
                     return std::tie(b.waiting_ns, a.name, a.comm) <
                            std::tie(a.waiting_ns, b.name, b.comm);
                   });
  return results;
}

}  // namespace kymo::analysis
