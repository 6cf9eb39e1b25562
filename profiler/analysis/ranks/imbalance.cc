#include "profiler/analysis/ranks/imbalance.h"

#include <algorithm>
#include <map>
#include <tuple>

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

}  // namespace

std::vector<RankTimes> TimesOfRanks(const model::Trace& trace,
                                    const RankCalls& calls) {
  std::vector<RankTimes> times(calls.ranks.size());
  for (size_t i = 0; i < times.size(); ++i) {
    times[i].rank = i;
    times[i].wall_ns = calls.ranks[i].end_ns - calls.ranks[i].begin_ns;
  }
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
  return times;
}

std::vector<Imbalance> ImbalanceByName(const model::Trace& trace,
                                       const RankCalls& calls) {
  if (calls.ranks.size() < 2) return {};
  std::map<int64_t, size_t> index;
  for (size_t i = 0; i < calls.ranks.size(); ++i) {
    index[calls.ranks[i].pid] = i;
  }
  std::map<model::NameId, std::vector<DurationNs>> by_name;
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const auto at = index.find(trace.tracks()[t].pid);
    if (at == index.end()) continue;
    for (EventIndex e = trace.track_begin(t); e < trace.track_end(t); ++e) {
      if (!IsTimed(trace, e)) continue;
      if (trace.Name(trace.name()[e]).starts_with("MPI_")) continue;
      if (IsWithinItself(trace, e)) continue;
      auto& times = by_name[trace.name()[e]];
      times.resize(calls.ranks.size());
      times[at->second] += trace.end()[e] - trace.start()[e];
    }
  }
  std::vector<Imbalance> results;
  for (const auto& [name, times] : by_name) {
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    DurationNs sum = 0;
    int64_t ranks = 0;
    for (const DurationNs time : times) {
      sum += time;
      ranks += time > 0;
    }
    results.push_back({.name = std::string(trace.Name(name)),
                       .ranks = ranks,
                       .mean_ns = sum / static_cast<DurationNs>(times.size()),
                       .least_ns = *least,
                       .least_rank = calls.ranks[least - times.begin()].rank,
                       .most_ns = *most,
                       .most_rank = calls.ranks[most - times.begin()].rank});
  }
  std::sort(results.begin(), results.end(),
            [](const Imbalance& a, const Imbalance& b) {
              const DurationNs x = a.excess_ns();
              const DurationNs y = b.excess_ns();
              return std::tie(y, a.name) < std::tie(x, b.name);
            });
  return results;
}

}  // namespace kymo::analysis
