#include "profiler/analysis/ranks/rank_path.h"

#include <algorithm>
#include <limits>
#include <map>

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::kNoEvent;
using model::TrackIndex;

// Until when a call waited, and for what another rank began then.
struct LateEvent {
  TimeNs until_ns = 0;
  EventIndex event = kNoEvent;
  size_t rank = 0;
};

// The last thing that each call waited for.
class CallWaits {
 public:
  explicit CallWaits(const JobOfRanks& job) : trace_(job.trace) {
    const model::Trace& trace = job.trace;
    for (const CollectiveOperation& operation : job.collectives) {
      if (operation.on_device || operation.never_came) continue;
      for (const CollectivePart& part : operation.parts) {
        const CollectivePart& late = operation.parts[part.awaits];
        // A call that was over before did not wait for that.
        if (trace.start()[late.event] > trace.end()[part.event]) continue;
        Add(part.event, part.waiting_ns, late.event, late.rank);
      }
    }
    for (const Message& message : job.messages.messages) {
      Add(message.awaited_in, message.late_sender_ns, message.sender_came,
          message.from);
      Add(message.send, message.late_receiver_ns, message.receiver_came,
          message.to);
    }
    for (const auto& of_rank : job.waits.by_rank()) {
      for (const RequestWait& wait : of_rank) {
        if (wait.late_event == kNoEvent) continue;  // nothing to go on with
        Add(wait.event, wait.waiting_ns, wait.late_event, wait.late_rank);
      }
    }
  }

  // Null: it waited for nobody.
  const LateEvent* Find(EventIndex call) const {
    const auto at = waits_.find(call);
    return at == waits_.end() ? nullptr : &at->second;
  }

 private:
  void Add(EventIndex call, DurationNs waiting, EventIndex late, size_t rank) {
    if (waiting <= 0) return;
    LateEvent& wait = waits_[call];
    const TimeNs until = trace_.start()[call] + waiting;
    if (until > wait.until_ns) wait = {until, late, rank};
  }

  const model::Trace& trace_;
  std::map<EventIndex, LateEvent> waits_;
};

class PathWalker {
 public:
  explicit PathWalker(const JobOfRanks& job)
      : trace_(job.trace), calls_(job.calls), waits_(job) {
    const model::Trace& trace = job.trace;
    const RankCalls& calls = job.calls;
    std::map<int64_t, size_t> rank_of;
    for (size_t i = 0; i < calls.ranks.size(); ++i) {
      rank_of[calls.ranks[i].pid] = i;
    }
    times_.resize(calls.ranks.size());
    for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
      const auto at = rank_of.find(trace.tracks()[t].pid);
      if (at != rank_of.end()) LookAt(t, times_[at->second]);
    }
    const auto init = trace.strings().Find("MPI_Init");
    const auto init_thread = trace.strings().Find("MPI_Init_thread");
    for (const MpiCall& call : calls.calls) {
      if (call.is_request || call.on_device) continue;
      const TrackIndex track = trace.track()[call.event];
      calls_of_[track].push_back(call.event);
      // A file may have several tracks of this thread, for ranges that overlap.
      const model::NameId name = trace.name()[call.event];
      if (name == init || name == init_thread) times_[call.rank].main = track;
    }
    for (auto& [track, events] : calls_of_) {
      std::ranges::stable_sort(
          events, {}, [&](EventIndex event) { return trace_.start()[event]; });
    }
  }

  std::vector<RankStep> Run() {
    for (size_t i = 0; i < calls_.ranks.size(); ++i) {
      if (!calls_.ranks[i].is_mpi || EndOf(i) <= time_ns_) continue;
      time_ns_ = EndOf(i);
      rank_ = i;
    }
    track_ = MainOf(rank_);
    while (Step()) {
    }
    std::ranges::reverse(steps_);
    return std::move(steps_);
  }

 private:
  struct RankTime {
    TimeNs first_ns = std::numeric_limits<TimeNs>::max();
    TimeNs last_ns = 0;
    TrackIndex main = model::kNoTrack;
  };

  void LookAt(TrackIndex track, RankTime& time) const {
    const EventIndex end = trace_.track_end(track);
    for (EventIndex e = trace_.track_begin(track); e < end; ++e) {
      time.first_ns = std::min(time.first_ns, trace_.start()[e]);
      time.last_ns = std::max(time.last_ns, trace_.end()[e]);
    }
    const model::Track& of = trace_.tracks()[track];
    const bool is_main = of.kind == model::TrackKind::kThread &&
                         (time.main == model::kNoTrack || of.id == of.pid);
    if (is_main) time.main = track;
  }

  TrackIndex MainOf(size_t rank) const { return times_[rank].main; }

  TimeNs EndOf(size_t rank) const {
    return calls_.ranks[rank].is_finalized ? calls_.ranks[rank].end_ns
                                           : times_[rank].last_ns;
  }

  // Goes back to `start_ns` here.
  void Add(EventIndex call, TimeNs start_ns) {
    if (start_ns >= time_ns_) return;
    steps_.push_back({.rank = rank_,
                      .track = track_,
                      .call = call,
                      .start_ns = start_ns,
                      .end_ns = time_ns_});
    time_ns_ = start_ns;
    were_here_.clear();
  }

  // The last call of the thread that began before this time.
  EventIndex CallBefore(TrackIndex track) const {
    const auto at = calls_of_.find(track);
    if (at == calls_of_.end()) return kNoEvent;
    const auto behind = std::ranges::lower_bound(
        at->second, time_ns_, {},
        [&](EventIndex event) { return trace_.start()[event]; });
    return behind == at->second.begin() ? kNoEvent : *(behind - 1);
  }

  bool Step() {
    EventIndex call = CallBefore(track_);
    // Before its first call, a thread was made by the one that began MPI.
    if (call == kNoEvent && CallBefore(MainOf(rank_)) != kNoEvent) {
      track_ = MainOf(rank_);
      call = CallBefore(track_);
    }
    if (call == kNoEvent) {
      Add(kNoEvent, times_[rank_].first_ns);
      return false;
    }
    if (trace_.end()[call] < time_ns_) {
      Add(kNoEvent, trace_.end()[call]);
      return true;
    }
    const LateEvent* const late = waits_.Find(call);
    if (late != nullptr && late->until_ns <= time_ns_) {
      Add(call, late->until_ns);
      if (GoTo(*late)) return true;
    }
    Add(call, trace_.start()[call]);
    return true;
  }

  // False: the path was in that rank at the same time, so the records of the
  // two contradict each other.
  bool GoTo(const LateEvent& late) {
    if (late.rank == rank_ || std::ranges::count(were_here_, late.rank) > 0) {
      return false;
    }
    were_here_.push_back(rank_);
    rank_ = late.rank;
    // Requests may have a track of their own.
    const TrackIndex track = trace_.track()[late.event];
    track_ = calls_of_.contains(track) ? track : MainOf(rank_);
    return true;
  }

  const model::Trace& trace_;
  const RankCalls& calls_;
  const CallWaits waits_;
  std::vector<RankTime> times_;  // by rank
  std::map<TrackIndex, std::vector<EventIndex>> calls_of_;
  size_t rank_ = 0;
  TrackIndex track_ = 0;
  TimeNs time_ns_ = 0;
  std::vector<size_t> were_here_;  // where the path was at that time
  std::vector<RankStep> steps_;    // the last one first
};

}  // namespace

bool HasRankPath(const RankCalls& calls) {
  return std::ranges::count_if(calls.ranks, &Rank::is_mpi) > 1;
}

std::vector<RankStep> FindRankPath(const JobOfRanks& job) {
  return PathWalker(job).Run();
}

}  // namespace kymo::analysis
