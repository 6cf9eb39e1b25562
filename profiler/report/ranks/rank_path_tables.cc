#include "profiler/report/ranks/rank_path_tables.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/ranks/rank_path.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"
#include "profiler/report/paths/path_parts.h"

namespace kymo::report {
namespace {

using analysis::RankStep;
using model::Wait;

struct NamedRankPath {
  explicit NamedRankPath(const analysis::JobOfRanks& job)
      : ranks(job.calls.ranks), parts(job.trace) {
    for (const RankStep& step : analysis::FindRankPath(job)) {
      const std::optional<analysis::RankEnd>& end = ranks[step.rank].ended;
      if (step.call == model::kNoEvent) {
        const TimeNs until =
            end ? std::clamp(end->time_ns, step.start_ns, step.end_ns)
                : step.end_ns;
        AddOutside(job.trace, step.track, step.start_ns, until);
        parts.Add({.track = step.track,
                   .start_ns = until,
                   .duration_ns = step.end_ns - until,
                   .cause = "gone",
                   .name = "[after its end]"});
      } else {
        parts.Add({.track = step.track,
                   .start_ns = step.start_ns,
                   .duration_ns = step.duration_ns(),
                   .cause = "MPI",
                   .name = std::string(job.trace.EventName(step.call))});
      }
      rank_of.emplace(step.track, step.rank);
    }
  }

  // Of a thread that was in no call.
  void AddOutside(const model::Trace& trace, model::TrackIndex track,
                  TimeNs start_ns, TimeNs end_ns) {
    const model::ThreadStates* const states = trace.thread_states();
    if (states != nullptr) {
      const auto place = [](const Wait& wait) {
        return std::pair(wait.track, wait.begin_ns);
      };
      auto at = std::ranges::upper_bound(states->waits,
                                         std::pair(track, start_ns), {}, place);
      if (at != states->waits.begin()) --at;  // it may go on at start_ns
      for (; at != states->waits.end(); ++at) {
        const Wait& wait = *at;
        if (place(wait) >= std::pair(track, end_ns)) break;
        const TimeNs begin = std::max(wait.begin_ns, start_ns);
        const TimeNs end = std::min(wait.end_ns(), end_ns);
        if (wait.track != track || begin >= end) continue;
        parts.AddRunning(track, start_ns, begin, "computing");
        parts.Add({.track = track,
                   .start_ns = begin,
                   .duration_ns = end - begin,
                   .cause = NameOf(wait.kind),
                   .name = parts.places().Of(wait.stack)});
        start_ns = end;
      }
    }
    parts.AddRunning(track, start_ns, end_ns, "computing");
  }

  // Threads of a rank count as one.
  std::vector<NamedPart> ByRank() const {
    std::map<size_t, model::TrackIndex> first_of;
    std::vector<NamedPart> by_rank = parts.list();
    for (NamedPart& part : by_rank) {
      const size_t rank = rank_of.at(part.track);
      part.track = first_of.try_emplace(rank, part.track).first->second;
    }
    return by_rank;
  }

  const analysis::Rank& RankOf(model::TrackIndex track) const {
    return ranks[rank_of.at(track)];
  }

  const std::vector<analysis::Rank>& ranks;
  PathParts parts;
  std::map<model::TrackIndex, size_t> rank_of;  // into ranks
};

}  // namespace

ValueTable RankPathTable(const analysis::JobOfRanks& job) {
  ValueTable table{.columns = {{"rank", "Rank", Unit::kCount},
                               {"host", "Host", Unit::kText},
                               {"rank_share", "Rank %", Unit::kShare},
                               {"cause", "Cause", Unit::kText},
                               {"name", "Name", Unit::kText},
                               {"share", "Path %", Unit::kShare},
                               {"path_ns", "On the path", Unit::kNs},
                               {"count", "# of parts", Unit::kCount}},
                   .rows = {}};
  const NamedRankPath path(job);
  for (PathRow& row : SumOfParts(path.ByRank())) {
    const analysis::Rank& rank = path.RankOf(row.track);
    table.rows.push_back({rank.rank, rank.host, row.track_share,
                          std::string(row.cause), std::move(row.name),
                          row.share, row.time_ns, row.count});
  }
  return table;
}

ValueTable RankPathStepTable(const analysis::JobOfRanks& job) {
  ValueTable table{.columns = {{"start_ns", "Start", Unit::kNs},
                               {"rank", "Rank", Unit::kCount},
                               {"host", "Host", Unit::kText},
                               {"cause", "Cause", Unit::kText},
                               {"name", "Name", Unit::kText},
                               {"path_ns", "On the path", Unit::kNs}},
                   .rows = {}};
  const NamedRankPath path(job);
  for (const NamedPart& part : path.parts.list()) {
    const analysis::Rank& rank = path.RankOf(part.track);
    table.rows.push_back({part.start_ns - job.trace.start_ns(), rank.rank,
                          rank.host, std::string(part.cause), part.name,
                          part.duration_ns});
  }
  return table;
}

}  // namespace kymo::report
