#include "profiler/analysis/ranks/collectives.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/model/mpi_names.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::NameId;

// Before those of communicators.
constexpr int64_t kInit = -3;
constexpr int64_t kFinalize = -2;

enum class RootRole : uint8_t { kNone, kGives, kTakes };

RootRole RoleOf(std::string_view name) {
  for (const std::string_view gives :
       {"MPI_Bcast", "MPI_Ibcast", "MPI_Scatter", "MPI_Iscatter",
        "MPI_Scatterv", "MPI_Iscatterv"}) {
    if (name == gives) return RootRole::kGives;
  }
  for (const std::string_view takes :
       {"MPI_Reduce", "MPI_Ireduce", "MPI_Gather", "MPI_Igather", "MPI_Gatherv",
        "MPI_Igatherv"}) {
    if (name == takes) return RootRole::kTakes;
  }
  return RootRole::kNone;
}

class CollectiveFinder {
 public:
  CollectiveFinder(const model::Trace& trace, const RankCalls& calls)
      : trace_(trace),
        calls_(calls),
        broke_off_(FirstToBreakOff(calls.ranks)) {}

  std::vector<CollectiveOperation> Run() {
    Gather();
    std::vector<CollectiveOperation> all;
    for (auto& [comm, by_rank] : by_comm_) {
      std::vector<CollectiveOperation> found = Operations(comm, by_rank);
      std::move(found.begin(), found.end(), std::back_inserter(all));
    }
    return all;
  }

 private:
  using OfRanks = std::vector<std::vector<const MpiCall*>>;

  std::string_view NameOf(EventIndex event) const {
    return trace_.Name(trace_.name()[event]);
  }
  TimeNs BeginOf(const CollectivePart& part) const {
    return trace_.start()[part.event];
  }

  void Gather() {
    last_begin_ns_.resize(calls_.ranks.size());
    for (const MpiCall& call : calls_.calls) {
      TimeNs& last_ns = last_begin_ns_[call.rank];
      last_ns = std::max(last_ns, trace_.start()[call.event]);
      if (call.has_failed) failed_.insert(call.event);
      if (call.kind == MpiKind::kCollective && call.is_request) {
        requests_[{call.rank, call.comm, trace_.name()[call.event]}].push_back(
            call.event);
        continue;
      }
      const std::string_view name = NameOf(call.event);
      int64_t comm = call.comm;
      if (name == "MPI_Init" || name == "MPI_Init_thread") {
        comm = kInit;
      } else if (name == "MPI_Finalize") {
        comm = kFinalize;
      } else if (call.kind != MpiKind::kCollective) {
        continue;
      }
      OfRanks& ranks = by_comm_[comm];
      ranks.resize(calls_.ranks.size());
      ranks[call.rank].push_back(&call);
    }
    for (auto& [key, events] : requests_) {
      std::ranges::stable_sort(
          events, {}, [&](EventIndex event) { return trace_.start()[event]; });
    }
  }

  // The request that a call began: they are made in the order of the calls.
  EventIndex TakeRequest(const MpiCall& call) {
    const auto key =
        std::tuple(call.rank, call.comm, trace_.name()[call.event]);
    const auto at = requests_.find(key);
    size_t& next = next_request_[key];
    if (at == requests_.end() || next >= at->second.size()) {
      return model::kNoEvent;
    }
    return at->second[next++];
  }

  std::vector<CollectiveOperation> Operations(int64_t comm, OfRanks& by_rank) {
    std::map<int64_t, CollectiveOperation> by_place;
    std::map<int64_t, std::vector<int64_t>> roots;
    for (size_t rank = 0; rank < by_rank.size(); ++rank) {
      std::vector<const MpiCall*>& own = by_rank[rank];
      // Threads of a rank may take turns.
      std::ranges::stable_sort(own, {}, [&](const MpiCall* call) {
        return trace_.start()[call->event];
      });
      int64_t place = 0;
      for (const MpiCall* const call : own) {
        if (call->sequence >= 0) place = call->sequence;
        CollectiveOperation& operation = by_place[place];
        // Two calls with one number would be a mistake of who wrote it.
        if (operation.parts.empty() || operation.parts.back().rank != rank) {
          AddPart(*call, operation);
          roots[place].push_back(call->root);
        }
        ++place;
      }
    }
    std::vector<CollectiveOperation> found;
    const std::vector<size_t> members = MembersOf(comm, by_rank);
    for (auto& [place, operation] : by_place) {
      operation.comm = std::max<int64_t>(comm, -1);
      operation.missing = MissingOf(members, operation.parts);
      Finish(roots[place], operation);
      found.push_back(std::move(operation));
    }
    return found;
  }

  // Those that made the communicator, or use it. All call MPI_Finalize.
  std::vector<size_t> MembersOf(int64_t comm, const OfRanks& by_rank) const {
    const auto made = calls_.communicators.find(comm);
    std::vector<size_t> members;
    for (size_t rank = 0; rank < by_rank.size(); ++rank) {
      const bool is_known = made != calls_.communicators.end() &&
                            std::ranges::count(made->second.ranks, rank) > 0;
      if (is_known || !by_rank[rank].empty() ||
          (comm == kFinalize && calls_.ranks[rank].is_mpi)) {
        members.push_back(rank);
      }
    }
    return members;
  }

  // Both are by rank.
  static std::vector<size_t> MissingOf(
      const std::vector<size_t>& members,
      const std::vector<CollectivePart>& parts) {
    std::vector<size_t> missing;
    auto part = parts.begin();
    for (const size_t rank : members) {
      if (part != parts.end() && part->rank == rank) {
        ++part;
      } else {
        missing.push_back(rank);
      }
    }
    return missing;
  }

  void AddPart(const MpiCall& call, CollectiveOperation& operation) {
    operation.name = trace_.name()[call.event];
    operation.on_device = call.on_device;
    operation.only_begins =
        call.comm >= 0 && model::OnlyBegins(trace_.Name(operation.name));
    operation.parts.push_back({.rank = call.rank, .event = call.event});
    if (operation.only_begins) {
      operation.parts.back().request = TakeRequest(call);
    }
  }

  void Finish(const std::vector<int64_t>& roots,
              CollectiveOperation& operation) const {
    std::vector<CollectivePart>& parts = operation.parts;
    for (size_t i = 1; i < parts.size(); ++i) {
      const TimeNs begin = BeginOf(parts[i]);
      if (begin > BeginOf(parts[operation.last])) operation.last = i;
      if (begin < BeginOf(parts[operation.first])) operation.first = i;
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      parts[i].needs_all = NeedsAll(i, roots[i], operation);
      parts[i].awaits = AwaitedBy(i, roots[i], operation);
      if (parts[i].awaits == i || operation.only_begins) continue;
      // A call without a barrier may end before the other rank enters.
      const TimeNs until = std::min(BeginOf(parts[parts[i].awaits]),
                                    trace_.end()[parts[i].event]);
      parts[i].waiting_ns = std::max<DurationNs>(0, until - BeginOf(parts[i]));
    }
    operation.absent = AbsentFrom(operation);
    for (size_t i = 0; i < parts.size() && !operation.absent.empty(); ++i) {
      CollectivePart& part = parts[i];
      part.never_came = NeverCame(part, roots[i], operation);
      if (!part.never_came || operation.only_begins) continue;
      part.waiting_ns = trace_.end()[part.event] - BeginOf(part);
    }
  }

  // What is over when the operation is.
  EventIndex LastEventOf(const CollectivePart& part) const {
    return part.request != model::kNoEvent ? part.request : part.event;
  }

  std::vector<size_t> AbsentFrom(const CollectiveOperation& operation) const {
    TimeNs end = 0;
    for (const CollectivePart& part : operation.parts) {
      end = std::max(end, trace_.end()[LastEventOf(part)]);
    }
    std::vector<size_t> absent;
    for (const size_t rank : operation.missing) {
      if (last_begin_ns_[rank] < end) absent.push_back(rank);
    }
    return absent;
  }

  // Whether it was not over when the recording ended, or has failed.
  bool WasCut(const CollectivePart& part) const {
    const EventIndex event = LastEventOf(part);
    return (trace_.flags()[event] & model::kEventOpen) != 0 ||
           failed_.contains(event);
  }

  // REQUIRES: some ranks are absent.
  std::optional<size_t> NeverCame(const CollectivePart& part, int64_t root,
                                  const CollectiveOperation& operation) const {
    const std::vector<size_t>& absent = operation.absent;
    if (operation.on_device || !WasCut(part)) return std::nullopt;
    if (RoleOf(trace_.Name(operation.name)) == RootRole::kGives) {
      const auto at = std::ranges::find(
          absent, root, [&](size_t rank) { return calls_.ranks[rank].rank; });
      if (at != absent.end()) return *at;
    }
    // The launcher has killed those that were on their way.
    const bool is_here =
        broke_off_ && std::ranges::count(absent, *broke_off_) > 0;
    return is_here ? *broke_off_ : absent.front();
  }

  bool NeedsAll(size_t part, int64_t root,
                const CollectiveOperation& operation) const {
    const std::string_view name = trace_.Name(operation.name);
    if (model::MayEndEarly(name)) return false;
    const RootRole role = RoleOf(name);
    if (role == RootRole::kNone || root < 0) return true;
    return role == RootRole::kTakes &&
           calls_.ranks[operation.parts[part].rank].rank == root;
  }

  size_t AwaitedBy(size_t part, int64_t root,
                   const CollectiveOperation& operation) const {
    const std::string_view name = trace_.Name(operation.name);
    const CollectivePart& own = operation.parts[part];
    if (model::MayEndEarly(name)) {
      const bool is_known =
          operation.only_begins && own.request != model::kNoEvent;
      const TimeNs end = trace_.end()[is_known ? own.request : own.event];
      return end < BeginOf(operation.parts[operation.last]) ? part
                                                            : operation.last;
    }
    if (own.needs_all) return operation.last;
    if (RoleOf(name) == RootRole::kTakes) return part;
    const auto rank_of = [&](const CollectivePart& p) {
      return calls_.ranks[p.rank].rank;
    };
    const auto at = std::ranges::find(operation.parts, root, rank_of);
    return at == operation.parts.end() ? part : at - operation.parts.begin();
  }

  const model::Trace& trace_;
  const RankCalls& calls_;
  const std::optional<size_t> broke_off_;
  std::vector<TimeNs> last_begin_ns_;  // of each rank's calls
  std::set<EventIndex> failed_;
  std::map<int64_t, OfRanks> by_comm_;
  // By rank, communicator and name.
  std::map<std::tuple<size_t, int64_t, NameId>, std::vector<EventIndex>>
      requests_;
  std::map<std::tuple<size_t, int64_t, NameId>, size_t> next_request_;
};

struct SumAndLate {
  CollectiveSum result;
  // For each rank: how long others waited for it, and how often it was last.
  std::vector<std::pair<DurationNs, int64_t>> late;
  std::set<size_t> missing;
};

void AddOperation(const model::Trace& trace,
                  const CollectiveOperation& operation, SumAndLate& sum) {
  CollectiveSum& result = sum.result;
  const auto begin_of = [&](size_t part) {
    return trace.start()[operation.parts[part].event];
  };
  ++result.operations;
  result.incomplete += !operation.missing.empty();
  sum.missing.insert(operation.missing.begin(), operation.missing.end());
  const DurationNs skew = begin_of(operation.last) - begin_of(operation.first);
  result.skew_ns += skew;
  result.most_skew_ns = std::max(result.most_skew_ns, skew);
  for (const CollectivePart& part : operation.parts) {
    result.total_ns += trace.end()[part.event] - trace.start()[part.event];
    result.waiting_ns += part.waiting_ns;
    sum.late[operation.AwaitedRank(part)].first += part.waiting_ns;
  }
  const auto never = std::ranges::find_if(
      operation.parts,
      [](const CollectivePart& part) { return part.never_came.has_value(); });
  ++sum.late[never != operation.parts.end()
                 ? *never->never_came
                 : operation.parts[operation.last].rank]
        .second;
}

}  // namespace

std::vector<CollectiveOperation> FindCollectives(const model::Trace& trace,
                                                 const RankCalls& calls) {
  return CollectiveFinder(trace, calls).Run();
}

std::vector<CollectiveSum> CollectiveSums(const JobOfRanks& job) {
  const model::Trace& trace = job.trace;
  const RankCalls& calls = job.calls;
  std::map<std::pair<int64_t, NameId>, SumAndLate> sums;
  for (const CollectiveOperation& operation : job.collectives) {
    auto [at, is_new] = sums.try_emplace({operation.comm, operation.name});
    if (is_new) {
      const std::string_view name = trace.Name(operation.name);
      at->second.result.name = std::string(name.substr(0, name.find('(')));
      at->second.result.comm = operation.comm;
      at->second.result.ranks = static_cast<int64_t>(operation.parts.size() +
                                                     operation.missing.size());
      const auto comm = calls.communicators.find(operation.comm);
      if (comm != calls.communicators.end()) {
        at->second.result.comm_name = comm->second.name;
      }
      at->second.late.resize(calls.ranks.size());
    }
    AddOperation(trace, operation, at->second);
  }
  std::vector<CollectiveSum> results;
  for (auto& [key, sum] : sums) {
    for (const auto& [time, operations] : sum.late) {
      sum.result.waited_for_ns.push_back(time);
    }
    for (const size_t rank : sum.missing) {
      sum.result.missing.push_back(calls.ranks[rank].rank);
    }
    const auto worst = std::ranges::max_element(sum.late);
    if (worst->first > 0) {
      sum.result.late_rank = calls.ranks[worst - sum.late.begin()].rank;
      sum.result.late_ns = worst->first;
      sum.result.late_operations = worst->second;
    }
    results.push_back(std::move(sum.result));
  }
  std::ranges::stable_sort(results,
                           [](const CollectiveSum& a, const CollectiveSum& b) {
                             return std::tie(b.waiting_ns, a.name, a.comm) <
                                    std::tie(a.waiting_ns, b.name, b.comm);
                           });
  return results;
}

std::vector<RankSkew> SkewOfRanks(const JobOfRanks& job) {
  const model::Trace& trace = job.trace;
  const RankCalls& calls = job.calls;
  std::vector<RankSkew> skews(calls.ranks.size());
  if (skews.empty()) return skews;
  const TimeNs first =
      std::ranges::min_element(calls.ranks, {}, &Rank::start_ns)->start_ns;
  for (size_t i = 0; i < skews.size(); ++i) {
    skews[i].start_ns = calls.ranks[i].start_ns - first;
  }
  for (const CollectiveOperation& operation : job.collectives) {
    if (operation.comm < 0 || operation.parts.size() < 2) continue;
    const TimeNs begin = trace.start()[operation.parts[operation.first].event];
    for (const CollectivePart& part : operation.parts) {
      const DurationNs late = trace.start()[part.event] - begin;
      RankSkew& skew = skews[part.rank];
      ++skew.operations;
      skew.sum_ns += late;
      skew.most_ns = std::max(skew.most_ns, late);
    }
  }
  return skews;
}

}  // namespace kymo::analysis
