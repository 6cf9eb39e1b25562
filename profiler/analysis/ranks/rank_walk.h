// rank_walk.h - back in time through the ranks of a job, from wait to wait.
//
//   RankWalk walk(job);
//   for (const RankStep& step : walk.Back(walk.EndOfRank(3), 0)) Print(step);
//
// At each time the walk is in one thread of one rank. Where a call waited for
// another rank, it goes on in that one, from the time at which that did what
// was waited for. So no step is a wait. The steps have no gaps.
//
// A call that was not over goes on until the job's end: a launcher does not
// kill all ranks at the same moment. The exception is the rank that broke off
// first.
//
// Before its first call of MPI, a thread computes since it was made; the
// instant "MPI thread" says when. Before that, the walk goes on in the thread
// of MPI_Init, as if that had made it.
//
// Units: nanoseconds. Threads: values. The job must outlive it. Cost: a look at
// each event of the trace, and a binary search for each step.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_RANK_WALK_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_RANK_WALK_H_

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/analysis/ranks/call_waits.h"
#include "profiler/analysis/ranks/job_of_ranks.h"

namespace kymo::analysis {

struct RankStep {
  size_t rank = 0;  // into RankCalls::ranks
  model::TrackIndex track = 0;
  model::EventIndex call = model::kNoEvent;  // kNoEvent: outside of MPI
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;

  DurationNs duration_ns() const { return end_ns - start_ns; }
  friend bool operator==(const RankStep&, const RankStep&) = default;
};

class RankWalk {
 public:
  explicit RankWalk(const JobOfRanks& job);

  struct Place {
    size_t rank = 0;
    model::TrackIndex track = model::kNoTrack;
    TimeNs time_ns = 0;
  };
  // Where the rank called MPI_Finalize, or its last event.
  Place EndOf(size_t rank) const;
  // Where the late rank did what was waited for.
  Place PlaceOf(const LateEvent& late) const;

  struct Limits {
    TimeNs begin_ns = 0;  // the first step begins then, or at the job's begin
    // The walk does not go on to this rank.
    std::optional<size_t> never_to;
    size_t steps = std::numeric_limits<size_t>::max();
  };
  // The last step first. Those of no time are left out.
  std::vector<RankStep> Back(const Place& from, const Limits& limits);

 private:
  struct RankTime {
    TimeNs first_ns = std::numeric_limits<TimeNs>::max();
    TimeNs last_ns = 0;
    model::TrackIndex main = model::kNoTrack;
  };

  void LookAt(model::TrackIndex track, RankTime& time);
  void NoteThread(model::EventIndex event);
  // When the thread was made; the time of the walk if nobody knows that.
  TimeNs BeginOf(model::TrackIndex track) const;
  void Add(model::EventIndex call, TimeNs start_ns);
  model::EventIndex CallBefore(model::TrackIndex track) const;
  bool Step();
  bool GoTo(const LateEvent& late);

  const model::Trace& trace_;
  const RankCalls& calls_;
  const CallWaits& waits_;
  const std::optional<size_t> broke_off_;
  std::vector<RankTime> times_;  // by rank
  std::map<model::TrackIndex, std::vector<model::EventIndex>> calls_of_;
  // When threads were made at the latest, by process and thread.
  std::map<std::pair<int64_t, int64_t>, TimeNs> made_;
  Place at_;
  Limits limits_;
  std::vector<size_t> were_here_;  // where the walk was at that time
  std::vector<RankStep> steps_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_RANK_WALK_H_
