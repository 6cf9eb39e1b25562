#include "profiler/analysis/lock_deadlocks.h"

#include <algorithm>
#include <optional>
#include <span>

#include "profiler/base/time.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"

namespace kymo::analysis {
namespace {

using model::ThreadTimes;
using model::TrackIndex;
using model::Wait;

// Shorter waits end by themselves.
constexpr DurationNs kLeastNs = 100 * kNsPerMs;
// A program that is killed takes as long to end at most.
constexpr DurationNs kEndingNs = 100 * kNsPerMs;

constexpr uint32_t kNoWait = ~uint32_t{0};

class LockDeadlockFinder {
 public:
  explicit LockDeadlockFinder(const model::Trace& trace)
      : waits_(trace.thread_states()->waits),
        last_(trace.tracks().size(), kNoWait),
        deadlock_(trace.tracks().size()) {
    std::vector<TimeNs> ends(trace.tracks().size(), trace.end_ns());
    for (const ThreadTimes& times : trace.thread_states()->threads) {
      if (times.end_ns != 0) ends[times.track] = times.end_ns;
    }
    for (uint32_t i = 0; i < waits_.size(); ++i) {
      const Wait& wait = waits_[i];
      const bool is_last =
          wait.is_open || wait.end_ns() >= ends[wait.track] - kEndingNs;
      if (is_last && wait.holder != model::kNoTrack &&
          wait.duration_ns >= kLeastNs) {
        last_[wait.track] = i;
      }
    }
  }

  std::vector<LockDeadlock> Run() {
    for (TrackIndex track = 0; track < last_.size(); ++track) Follow(track);
    return std::move(found_);
  }

 private:
  // The wait of the one that held what the wait is for, if it has held it since
  // before anybody saw that.
  uint32_t Next(uint32_t i) const {
    const uint32_t next = last_[waits_[i].holder];
    if (next == kNoWait || next == i) return next;
    const TimeNs half_ns = waits_[i].begin_ns + waits_[i].duration_ns / 2;
    return waits_[next].begin_ns <= half_ns ? next : kNoWait;
  }

  // From the thread to the end of its chain, or to where that was before.
  void Follow(TrackIndex track) {
    std::vector<uint32_t> chain;
    for (uint32_t i = last_[track]; i != kNoWait; i = Next(i)) {
      std::optional<size_t>& known = deadlock_[waits_[i].track];
      if (known) {
        Add(*known, chain);
        return;
      }
      const auto seen = std::ranges::find(chain, i);
      if (seen == chain.end()) {
        chain.push_back(i);
        continue;
      }
      std::vector<uint32_t> circle(seen, chain.end());
      chain.erase(seen, chain.end());
      const auto first = std::ranges::min_element(
          circle, {}, [this](uint32_t wait) { return waits_[wait].begin_ns; });
      std::rotate(circle.begin(), first, circle.end());
      for (const uint32_t wait : circle) {
        deadlock_[waits_[wait].track] = found_.size();
      }
      found_.push_back({.circle = std::move(circle), .others = {}});
      Add(found_.size() - 1, chain);
      return;
    }
  }

  void Add(size_t deadlock, std::span<const uint32_t> waits) {
    for (const uint32_t i : waits) {
      deadlock_[waits_[i].track] = deadlock;
      found_[deadlock].others.push_back(i);
    }
  }

  const std::vector<Wait>& waits_;
  std::vector<uint32_t> last_;  // by track: its last wait, if it fits
  std::vector<std::optional<size_t>> deadlock_;  // by track: of found_
  std::vector<LockDeadlock> found_;
};

}  // namespace

std::vector<LockDeadlock> LockDeadlocks(const model::Trace& trace) {
  if (trace.thread_states() == nullptr) return {};
  return LockDeadlockFinder(trace).Run();
}

}  // namespace kymo::analysis
