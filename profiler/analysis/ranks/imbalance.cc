#include "profiler/analysis/ranks/imbalance.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace kymo::analysis {
namespace {

using model::EventIndex;

// Whether an enclosing range has the same name: its time is counted already.
bool IsWithinItself(const model::Trace& trace, EventIndex event) {
  const model::NameId name = trace.name()[event];
  for (EventIndex up = trace.parent()[event]; up != model::kNoEvent;
       up = trace.parent()[up]) {
    if (trace.name()[up] == name) return true;
  }
  return false;
}

// A range of a thread, or a phase of MPI_Pcontrol, which is of no thread.
bool IsTimed(const model::Trace& trace, EventIndex event) {
  const uint8_t flags = trace.flags()[event];
  if (model::IsRange(flags)) return true;
  return (flags & model::kEventAsync) != 0 &&
         trace.Name(trace.name()[event]).starts_with("phase ");
}

// How long at least one of the intervals goes on.
DurationNs Covered(std::vector<std::pair<TimeNs, TimeNs>>& intervals) {
  std::ranges::sort(intervals);
  DurationNs covered = 0;
  TimeNs until = std::numeric_limits<TimeNs>::min();
  for (const auto& [begin, end] : intervals) {
    if (end <= until) continue;
    covered += end - std::max(begin, until);
    until = end;
  }
  return covered;
}

// A name's ranges in one rank.
struct OfRank {
  // Beyond, they are no steps.
  static constexpr size_t kMostSteps = 100'000;

  DurationNs total_ns = 0;
  int64_t count = 0;
  std::vector<std::pair<TimeNs, DurationNs>> steps;

  void Add(TimeNs begin, DurationNs duration) {
    total_ns += duration;
    if (++count <= static_cast<int64_t>(kMostSteps)) {
      steps.emplace_back(begin, duration);
    }
  }
  bool HasAllSteps() const {
    return count == static_cast<int64_t>(steps.size());
  }
};

void AddSteps(const RankCalls& calls, std::vector<OfRank>& ranks,
              Imbalance& result) {
  const int64_t steps = ranks.front().count;
  if (steps < 2 || !std::ranges::all_of(ranks, [&](const OfRank& rank) {
        return rank.count == steps && rank.HasAllSteps();
      })) {
    return;
  }
  for (OfRank& rank : ranks) std::ranges::stable_sort(rank.steps);
  result.steps = steps;
  for (int64_t step = 0; step < steps; ++step) {
    DurationNs sum = 0;
    DurationNs most = -1;
    size_t slowest = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
      const DurationNs duration = ranks[i].steps[step].second;
      sum += duration;
      if (duration > most) {
        most = duration;
        slowest = i;
      }
    }
    const DurationNs excess =
        most - sum / static_cast<DurationNs>(ranks.size());
    result.step_excess_ns += excess;
    if (excess <= result.worst_step_excess_ns) continue;
    result.worst_step_excess_ns = excess;
    result.worst_step = step + 1;
    result.worst_step_rank = calls.ranks[slowest].rank;
  }
}

}  // namespace

std::vector<RankTimes> TimesOfRanks(const model::Trace& trace,
                                    const RankCalls& calls) {
  std::vector<RankTimes> times(calls.ranks.size());
  for (size_t i = 0; i < times.size(); ++i) {
    times[i].rank = i;
    times[i].wall_ns = calls.ranks[i].end_ns - calls.ranks[i].begin_ns;
  }
  std::vector<std::vector<std::pair<TimeNs, TimeNs>>> in_mpi(times.size());
  for (const MpiCall& call : calls.calls) {
    const Rank& rank = calls.ranks[call.rank];
    const TimeNs begin = trace.start()[call.event];
    if (call.on_device) {
      // Of a rank of MPI, the columns are about MPI.
      if (!rank.is_mpi) {
        times[call.rank].collective_ns += trace.end()[call.event] - begin;
      }
      continue;
    }
    // MPI_Init and MPI_Finalize are outside.
    if (begin < rank.begin_ns || begin >= rank.end_ns) continue;
    RankTimes& sum = times[call.rank];
    if (call.is_message && call.to >= 0) sum.sent_bytes += call.bytes;
    if (call.is_request) continue;
    ++sum.calls;
    const DurationNs duration = trace.end()[call.event] - begin;
    in_mpi[call.rank].emplace_back(
        begin, std::min(trace.end()[call.event], rank.end_ns));
    switch (call.kind) {
      case MpiKind::kCollective:
        sum.collective_ns += duration;
        break;
      case MpiKind::kOther:
        sum.other_mpi_ns += duration;
        break;
      default:
        sum.point_to_point_ns += duration;
        break;
    }
  }
  for (size_t i = 0; i < times.size(); ++i) {
    times[i].in_mpi_ns = Covered(in_mpi[i]);
  }
  return times;
}

std::vector<Imbalance> ImbalanceByName(const model::Trace& trace,
                                       const RankCalls& calls) {
  if (calls.ranks.size() < 2) return {};
  std::map<int64_t, size_t> index;
  for (size_t i = 0; i < calls.ranks.size(); ++i) {
    index[calls.ranks[i].pid] = i;
  }
  std::map<model::NameId, std::vector<OfRank>> by_name;
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const auto at = index.find(trace.tracks()[t].pid);
    if (at == index.end()) continue;
    for (EventIndex e = trace.track_begin(t); e < trace.track_end(t); ++e) {
      if (!IsTimed(trace, e)) continue;
      if (trace.Name(trace.name()[e]).starts_with("MPI_")) continue;
      if (IsWithinItself(trace, e)) continue;
      auto& of_ranks = by_name[trace.name()[e]];
      of_ranks.resize(calls.ranks.size());
      of_ranks[at->second].Add(trace.start()[e],
                               trace.end()[e] - trace.start()[e]);
    }
  }
  std::vector<Imbalance> results;
  for (auto& [name, of_ranks] : by_name) {
    const auto [least, most] =
        std::ranges::minmax_element(of_ranks, {}, &OfRank::total_ns);
    DurationNs sum = 0;
    int64_t ranks = 0;
    for (const OfRank& rank : of_ranks) {
      sum += rank.total_ns;
      ranks += rank.total_ns > 0;
    }
    results.push_back(
        {.name = std::string(trace.Name(name)),
         .ranks = ranks,
         .mean_ns = sum / static_cast<DurationNs>(of_ranks.size()),
         .least_ns = least->total_ns,
         .least_rank = calls.ranks[least - of_ranks.begin()].rank,
         .most_ns = most->total_ns,
         .most_rank = calls.ranks[most - of_ranks.begin()].rank});
    AddSteps(calls, of_ranks, results.back());
  }
  std::sort(results.begin(), results.end(),
            [](const Imbalance& a, const Imbalance& b) {
              const DurationNs x = a.lost_ns();
              const DurationNs y = b.lost_ns();
              return std::tie(y, a.name) < std::tie(x, b.name);
            });
  return results;
}

}  // namespace kymo::analysis
