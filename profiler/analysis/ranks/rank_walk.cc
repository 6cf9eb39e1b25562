#include "profiler/analysis/ranks/rank_walk.h"

#include <algorithm>
#include <utility>

namespace kymo::analysis {

using model::EventIndex;
using model::kNoEvent;
using model::TrackIndex;

RankWalk::RankWalk(const JobOfRanks& job)
    : trace_(job.trace),
      calls_(job.calls),
      waits_(job.call_waits),
      broke_off_(FirstToBreakOff(calls_.ranks)) {
  std::map<int64_t, size_t> rank_of;
  for (size_t i = 0; i < calls_.ranks.size(); ++i) {
    rank_of[calls_.ranks[i].pid] = i;
  }
  times_.resize(calls_.ranks.size());
  for (TrackIndex t = 0; t < trace_.tracks().size(); ++t) {
    const auto at = rank_of.find(trace_.tracks()[t].pid);
    if (at != rank_of.end()) LookAt(t, times_[at->second]);
  }
  const auto init = trace_.strings().Find("MPI_Init");
  const auto init_thread = trace_.strings().Find("MPI_Init_thread");
  for (const MpiCall& call : calls_.calls) {
    if (call.is_request || call.on_device) continue;
    const TrackIndex track = trace_.track()[call.event];
    calls_of_[track].push_back(call.event);
    // A file may have several tracks of this thread, for ranges that overlap.
    const model::NameId name = trace_.name()[call.event];
    if (name == init || name == init_thread) times_[call.rank].main = track;
  }
  for (auto& [track, events] : calls_of_) {
    std::ranges::stable_sort(
        events, {}, [&](EventIndex event) { return trace_.start()[event]; });
  }
}

void RankWalk::NoteThread(EventIndex event) {
  const model::Track& track = trace_.tracks()[trace_.track()[event]];
  for (const model::Arg& arg : trace_.args(event)) {
    if (trace_.Name(arg.key) != "age_ns") continue;
    if (arg.type != model::ArgType::kInt) continue;
    made_[{track.pid, track.id}] = trace_.start()[event] - arg.int_value();
  }
}

TimeNs RankWalk::BeginOf(TrackIndex track) const {
  const model::Track& of = trace_.tracks()[track];
  const auto at = made_.find({of.pid, of.id});
  return at == made_.end() ? at_.time_ns : std::min(at->second, at_.time_ns);
}

void RankWalk::LookAt(TrackIndex track, RankTime& time) {
  const auto thread = trace_.strings().Find("MPI thread");
  const EventIndex end = trace_.track_end(track);
  for (EventIndex e = trace_.track_begin(track); e < end; ++e) {
    time.first_ns = std::min(time.first_ns, trace_.start()[e]);
    time.last_ns = std::max(time.last_ns, trace_.end()[e]);
    if (trace_.name()[e] == thread) NoteThread(e);
  }
  const model::Track& of = trace_.tracks()[track];
  const bool is_main = of.kind == model::TrackKind::kThread &&
                       (time.main == model::kNoTrack || of.id == of.pid);
  if (is_main) time.main = track;
}

RankWalk::Place RankWalk::EndOf(size_t rank) const {
  const Rank& of = calls_.ranks[rank];
  return {rank, times_[rank].main,
          of.is_finalized ? of.end_ns : times_[rank].last_ns};
}

RankWalk::Place RankWalk::PlaceOf(const LateEvent& late) const {
  Place place = {late.rank, times_[late.rank].main, late.until_ns};
  if (late.event == kNoEvent) return place;
  // Requests may have a track of their own.
  const TrackIndex track = trace_.track()[late.event];
  if (calls_of_.contains(track)) place.track = track;
  return place;
}

std::vector<RankStep> RankWalk::Back(const Place& from, const Limits& limits) {
  at_ = from;
  limits_ = limits;
  were_here_.clear();
  steps_.clear();
  while (at_.time_ns > limits_.begin_ns && steps_.size() < limits_.steps &&
         Step()) {
  }
  return std::move(steps_);
}

// Goes back to `start_ns` here.
void RankWalk::Add(EventIndex call, TimeNs start_ns) {
  start_ns = std::max(start_ns, limits_.begin_ns);
  if (start_ns >= at_.time_ns) return;
  steps_.push_back({.rank = at_.rank,
                    .track = at_.track,
                    .call = call,
                    .start_ns = start_ns,
                    .end_ns = at_.time_ns});
  at_.time_ns = start_ns;
  were_here_.clear();
}

// The last call of the thread that began before this time.
EventIndex RankWalk::CallBefore(TrackIndex track) const {
  const auto at = calls_of_.find(track);
  if (at == calls_of_.end()) return kNoEvent;
  const auto behind = std::ranges::lower_bound(
      at->second, at_.time_ns, {},
      [&](EventIndex event) { return trace_.start()[event]; });
  return behind == at->second.begin() ? kNoEvent : *(behind - 1);
}

bool RankWalk::Step() {
  EventIndex call = CallBefore(at_.track);
  const TrackIndex main = times_[at_.rank].main;
  if (call == kNoEvent && at_.track != main) {
    const TimeNs begin = BeginOf(at_.track);
    Add(kNoEvent, begin);
  }
  // The one that began MPI has made it.
  const bool is_made = call == kNoEvent && CallBefore(main) != kNoEvent;
  if (is_made) {
    at_.track = main;
    call = CallBefore(main);
  }
  if (call == kNoEvent) {
    Add(kNoEvent, times_[at_.rank].first_ns);
    return false;
  }
  const bool goes_on =
      (trace_.flags()[call] & model::kEventOpen) != 0 && at_.rank != broke_off_;
  if (trace_.end()[call] < at_.time_ns && !goes_on) {
    Add(kNoEvent, trace_.end()[call]);
    return true;
  }
  const LateEvent* const late = waits_.Find(call);
  // A wait for a rank that never came goes on as the call does: its record may
  // end before or after that of the rank that waited for this one.
  const bool never_came = late != nullptr && late->event == kNoEvent;
  // The thread may have been made while the other one was in a wait.
  const bool is_over = late != nullptr && late->until_ns <= at_.time_ns;
  if (late != nullptr && (never_came || is_over || is_made)) {
    if (never_came ? !goes_on : is_over) Add(call, late->until_ns);
    if (GoTo(*late)) return true;
  }
  Add(call, trace_.start()[call]);
  return true;
}

// False: the walk was in that rank at the same time, so the records of the two
// contradict each other, or it may not go there.
bool RankWalk::GoTo(const LateEvent& late) {
  if (late.rank == at_.rank || late.rank == limits_.never_to ||
      std::ranges::count(were_here_, late.rank) > 0) {
    return false;
  }
  were_here_.push_back(at_.rank);
  const TimeNs time = at_.time_ns;
  at_ = PlaceOf(late);
  at_.time_ns = time;
  return true;
}

}  // namespace kymo::analysis
