#include "profiler/analysis/ranks/deadlock.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "profiler/model/mpi_names.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;

// The bound of a clock of which nothing is known.
constexpr DurationNs kAnyTime = std::numeric_limits<DurationNs>::max() / 4;

// What an open call waits for.
struct Need {
  std::vector<size_t> ranks;
  // It waits for all of them, so it is stuck if one of them is. Else it waits
  // for one or some of them, and nobody knows which.
  bool needs_each = false;
  EventIndex operation = model::kNoEvent;
  int64_t tag = -1;

  void Add(size_t rank, const MpiCall& call, bool receives) {
    if (std::ranges::count(ranks, rank) == 0) ranks.push_back(rank);
    if (operation != model::kNoEvent) return;
    operation = call.event;
    tag = receives ? call.receive_tag : call.send_tag;
  }
};

struct StuckRank {
  bool is_stuck = false;
  TimeNs begin_ns = 0;  // since then, it waits in all its threads
  TimeNs end_ns = std::numeric_limits<TimeNs>::max();
  std::vector<std::pair<EventIndex, Need>> needs;  // of each thread
};

class DeadlockFinder {
 public:
  explicit DeadlockFinder(const JobOfRanks& job)
      : job_(job), trace_(job.trace), ranks_(job.calls.ranks.size()) {
    const std::vector<Rank>& all = job.calls.ranks;
    is_one_host_ = std::ranges::all_of(
        all, [&](const Rank& rank) { return rank.host == all.front().host; });
  }

  std::optional<Deadlock> Run() {
    FindOpenCalls();
    if (open_.empty()) return std::nullopt;
    NeedMessages();
    NeedCollectives();
    LeaveOutUnknown();
    for (const auto& [thread, call] : last_) AddThread(thread.first, *call);
    for (size_t i = 0; i < ranks_.size(); ++i) {
      const std::optional<RankEnd>& end = job_.calls.ranks[i].ended;
      if (end) ranks_[i].end_ns = std::min(ranks_[i].end_ns, end->time_ns);
    }
    do {
      LeaveFreeOut();
    } while (LeaveLateOut());
    return Circle();
  }

 private:
  bool IsOpen(EventIndex event) const {
    return (trace_.flags()[event] & model::kEventOpen) != 0;
  }

  // The last call of each thread, and all that were open.
  void FindOpenCalls() {
    for (const MpiCall& call : job_.calls.calls) {
      if (call.is_open) open_[call.event] = &call;
      if (call.is_request || call.on_device) continue;
      const int64_t thread = trace_.tracks()[trace_.track()[call.event]].id;
      const MpiCall*& last = last_[{call.rank, thread}];
      if (last == nullptr ||
          trace_.start()[call.event] >= trace_.start()[last->event]) {
        last = &call;
      }
    }
  }

  // The call in which a rank waits for what this is: itself, or the MPI_Wait of
  // a request. kNoEvent: it does not wait for it.
  EventIndex WaitFor(const MpiCall& call) const {
    if (!call.is_request) return call.event;
    const auto at = job_.wait_calls.Of(call.event, call.rank);
    if (!at) return model::kNoEvent;
    const EventIndex wait = job_.wait_calls.by_rank()[call.rank][*at];
    return IsOpen(wait) ? wait : model::kNoEvent;
  }

  void NeedMessages() {
    // A message that was on its way may have been the one that was waited for.
    for (const Message& message : job_.messages.messages) {
      for (const EventIndex event : {message.send, message.receive}) {
        const auto at = open_.find(event);
        if (at == open_.end() || !at->second->is_request) continue;
        const EventIndex wait = WaitFor(*at->second);
        if (wait != model::kNoEvent) unknown_.insert(wait);
      }
    }
    for (const bool receives : {true, false}) {
      for (const UnansweredCall& call : job_.messages.unanswered) {
        if (call.receives != receives) continue;
        const auto at = open_.find(call.event);
        if (at == open_.end()) continue;
        const EventIndex wait = WaitFor(*at->second);
        if (wait == model::kNoEvent) continue;
        if (call.is_unsure) {
          unknown_.insert(wait);
          continue;
        }
        // A small message is sent without its receiver.
        if (call.is_request && !receives && needs_.contains(wait)) continue;
        needs_[wait].Add(call.awaited, *at->second, receives);
        needs_[wait].needs_each = !call.is_request;
      }
    }
  }

  // Of those that only begin, LeaveOutUnknown leaves the waits out.
  void NeedCollectives() {
    for (const CollectiveOperation& operation : job_.collectives) {
      if (operation.only_begins || operation.on_device) continue;
      for (const CollectivePart& part : operation.parts) {
        const auto at = open_.find(part.event);
        if (at == open_.end() || operation.absent.empty()) continue;
        Need& need = needs_[part.event];
        need.needs_each = part.needs_all;
        for (const size_t rank : operation.absent) {
          need.Add(rank, *at->second, false);
        }
      }
    }
  }

  // Receives and probes with MPI_ANY_SOURCE, which may be for a process of
  // another job, and messages to a rank that does not exist. And waits for
  // other requests than messages.
  void LeaveOutUnknown() {
    for (const auto& [event, call] : open_) {
      const bool is_unknown =
          model::IsPointToPoint(trace_.EventName(event))
              ? call->comm >= 0 && call->from < 0 && call->to < 0
              : call->is_request;
      if (!is_unknown) continue;
      const EventIndex wait = WaitFor(*call);
      if (wait != model::kNoEvent) unknown_.insert(wait);
    }
  }

  void AddThread(size_t of_rank, const MpiCall& call) {
    StuckRank& rank = ranks_[of_rank];
    const bool is_first = rank.needs.empty();
    const auto need = needs_.find(call.event);
    const bool is_stuck = call.is_open && need != needs_.end() &&
                          !need->second.ranks.empty() &&
                          !unknown_.contains(call.event);
    rank.is_stuck = is_stuck && (is_first || rank.is_stuck);
    rank.begin_ns = std::max(rank.begin_ns, trace_.start()[call.event]);
    rank.end_ns = std::min(rank.end_ns, trace_.end()[call.event]);
    rank.needs.emplace_back(call.event, is_stuck ? need->second : Need());
  }

  bool CannotEnd(const Need& need) const {
    const auto is_stuck = [&](size_t rank) { return ranks_[rank].is_stuck; };
    return need.needs_each ? std::ranges::any_of(need.ranks, is_stuck)
                           : std::ranges::all_of(need.ranks, is_stuck);
  }

  void LeaveFreeOut() {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (StuckRank& rank : ranks_) {
        if (!rank.is_stuck) continue;
        rank.is_stuck = std::ranges::all_of(rank.needs, [&](const auto& need) {
          return CannotEnd(need.second);
        });
        has_changed |= !rank.is_stuck;
      }
    }
  }

  // By how much a rank's times may be wrong against those of another one. A
  // clock that nobody measured is that of its host.
  DurationNs BoundOf(size_t rank) const {
    const auto& bound_ns = job_.calls.ranks[rank].clock_bound_ns;
    if (bound_ns) return *bound_ns;
    return is_one_host_ ? 0 : kAnyTime;
  }

  // Those that may have begun to wait when one of them was gone already. False:
  // there are none.
  bool LeaveLateOut() {
    TimeNs end = std::numeric_limits<TimeNs>::max();
    for (size_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i].is_stuck)
        end = std::min(end, ranks_[i].end_ns - BoundOf(i));
    }
    bool has_changed = false;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      if (!ranks_[i].is_stuck || ranks_[i].begin_ns + BoundOf(i) < end)
        continue;
      ranks_[i].is_stuck = false;
      has_changed = true;
    }
    return has_changed;
  }

  CircleStep StepFrom(size_t of_rank) const {
    const auto& [call, need] = ranks_[of_rank].needs.front();
    const auto awaited = std::ranges::find_if(
        need.ranks, [&](size_t rank) { return ranks_[rank].is_stuck; });
    return {.rank = of_rank,
            .awaited = *awaited,
            .call = call,
            .operation = need.operation,
            .tag = need.tag};
  }

  std::optional<Deadlock> Circle() const {
    const auto first = std::ranges::find(ranks_, true, &StuckRank::is_stuck);
    if (first == ranks_.end()) return std::nullopt;
    Deadlock found;
    std::vector<CircleStep>& circle = found.circle;
    for (size_t rank = first - ranks_.begin();;) {
      const auto seen = std::ranges::find(circle, rank, &CircleStep::rank);
      if (seen != circle.end()) {
        circle.erase(circle.begin(), seen);
        break;
      }
      circle.push_back(StepFrom(rank));
      rank = circle.back().awaited;
    }
    std::rotate(circle.begin(),
                std::ranges::min_element(circle, {}, &CircleStep::rank),
                circle.end());
    for (const CircleStep& step : circle) {
      found.since_ns = std::max(found.since_ns, ranks_[step.rank].begin_ns);
    }
    for (const StuckRank& rank : ranks_) {
      if (!rank.is_stuck) continue;
      ++found.others;
      found.waiting_ns += rank.end_ns - std::max(rank.begin_ns, found.since_ns);
    }
    found.others -= circle.size();
    return found;
  }

  const JobOfRanks& job_;
  const model::Trace& trace_;
  std::vector<StuckRank> ranks_;
  bool is_one_host_ = true;
  std::map<EventIndex, const MpiCall*> open_;  // calls and requests
  std::map<std::pair<size_t, int64_t>, const MpiCall*> last_;  // of threads
  std::map<EventIndex, Need> needs_;                           // of open calls
  std::set<EventIndex> unknown_;  // open calls that may be over soon
};

}  // namespace

std::optional<Deadlock> FindDeadlock(const JobOfRanks& job) {
  return DeadlockFinder(job).Run();
}

}  // namespace kymo::analysis
