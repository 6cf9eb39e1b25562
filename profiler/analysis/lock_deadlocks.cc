#include "profiler/analysis/lock_deadlocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "profiler/base/time.h"
#include "profiler/model/shared_objects.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"

namespace kymo::analysis {
namespace {

using model::ThreadTimes;
using model::TrackIndex;
using model::Wait;

// A program that is killed takes as long to end at most.
constexpr DurationNs kEndingNs = 100 * kNsPerMs;

constexpr uint32_t kNoWait = ~uint32_t{0};

class LockDeadlockFinder {
 public:
  explicit LockDeadlockFinder(const model::Trace& trace)
      : trace_(trace),
        waits_(trace.thread_states()->waits),
        ends_(trace.tracks().size(), trace.end_ns()),
        last_(trace.tracks().size(), kNoWait),
        visits_(trace.tracks().size()) {
    for (const ThreadTimes& times : trace.thread_states()->threads) {
      if (times.end_ns != 0) ends_[times.track] = times.end_ns;
    }
    for (uint32_t i = 0; i < waits_.size(); ++i) {
      const Wait& wait = waits_[i];
      // Who got the lock in the end was woken by the thread that gave it back.
      const bool is_last =
          wait.is_open || (wait.waker == model::kNoTrack &&
                           wait.end_ns() >= ends_[wait.track] - kEndingNs);
      if (is_last && wait.holder != model::kNoTrack &&
          wait.duration_ns >= model::kLongWaitNs) {
        last_[wait.track] = i;
      }
    }
  }

  std::vector<LockDeadlock> Run() {
    for (TrackIndex track = 0; track < last_.size(); ++track) Follow(track);
    return std::move(found_);
  }

 private:
  struct Visit {
    std::optional<TrackIndex> from;  // whose chain came here first
    std::optional<size_t> deadlock;  // of found_, at the end of that chain
  };

  // The wait of the one that held what the wait is for, if it has held it since
  // before anybody saw that.
  uint32_t Next(uint32_t i) const {
    const uint32_t next = last_[waits_[i].holder];
    if (next == kNoWait || next == i) return next;
    const TimeNs seen_ns =
        waits_[i].begin_ns + model::HolderCountsFromNs(waits_[i].duration_ns);
    return waits_[next].begin_ns <= seen_ns ? next : kNoWait;
  }

  // Why the holder cannot give the lock back, whatever it does.
  std::optional<DeadlockCause> Loss(const Wait& wait) const {
    const auto& tracks = trace_.tracks();
    if (tracks[wait.holder].pid != tracks[wait.track].pid) {
      if (model::IsShared(trace_.Name(wait.object_name))) return std::nullopt;
      return DeadlockCause::kFork;
    }
    const TimeNs seen_ns =
        wait.begin_ns + model::HolderCountsFromNs(wait.duration_ns);
    if (ends_[wait.holder] > seen_ns) return std::nullopt;
    return DeadlockCause::kEndedHolder;
  }

  // From the thread to the end of its chain, or to where that was before.
  void Follow(TrackIndex track) {
    std::vector<uint32_t> chain;
    std::optional<size_t> deadlock;
    for (uint32_t i = last_[track]; i != kNoWait; i = Next(i)) {
      Visit& visit = visits_[waits_[i].track];
      if (!visit.from) {
        visit.from = track;
        chain.push_back(i);
        if (const auto loss = Loss(waits_[i])) {
          deadlock = AddLost(*loss, chain);
          break;
        }
        continue;
      }
      deadlock = *visit.from == track ? AddCircle(i, chain) : visit.deadlock;
      break;
    }
    for (const uint32_t i : chain) {
      visits_[waits_[i].track].deadlock = deadlock;
      if (deadlock) found_[*deadlock].others.push_back(i);
    }
  }

  // Takes the chain's last wait, if no other one of its process waits for that
  // holder since an earlier time.
  size_t AddLost(DeadlockCause cause, std::vector<uint32_t>& chain) {
    const Wait& wait = waits_[chain.back()];
    const auto [known, is_new] = lost_.try_emplace(
        std::pair(trace_.tracks()[wait.track].pid, wait.holder), found_.size());
    if (is_new) {
      found_.push_back(
          {.cause = cause, .circle = {chain.back()}, .others = {}});
      chain.pop_back();
    } else {
      uint32_t& first = found_[known->second].circle.front();
      if (wait.begin_ns < waits_[first].begin_ns)
        std::swap(first, chain.back());
    }
    visits_[wait.track].deadlock = known->second;
    return known->second;
  }

  // Takes it from the end of the chain, where it begins with `first`.
  size_t AddCircle(uint32_t first, std::vector<uint32_t>& chain) {
    const auto begin = std::ranges::find(chain, first);
    std::vector<uint32_t> circle(begin, chain.end());
    chain.erase(begin, chain.end());
    const auto earliest = std::ranges::min_element(
        circle, {}, [this](uint32_t i) { return waits_[i].begin_ns; });
    std::rotate(circle.begin(), earliest, circle.end());
    for (const uint32_t i : circle) {
      visits_[waits_[i].track].deadlock = found_.size();
    }
    found_.push_back({.circle = std::move(circle), .others = {}});
    return found_.size() - 1;
  }

  const model::Trace& trace_;
  const std::vector<Wait>& waits_;
  std::vector<TimeNs> ends_;    // by track
  std::vector<uint32_t> last_;  // by track: its last wait, if it fits
  std::vector<Visit> visits_;   // by track
  std::vector<LockDeadlock> found_;
  // Which of found_, by the process that waits and the holder.
  std::map<std::pair<int64_t, TrackIndex>, size_t> lost_;
};

}  // namespace

std::vector<LockDeadlock> LockDeadlocks(const model::Trace& trace) {
  if (trace.thread_states() == nullptr) return {};
  return LockDeadlockFinder(trace).Run();
}

}  // namespace kymo::analysis
