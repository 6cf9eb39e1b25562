#include "profiler/analysis/wake_path.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/analysis/device/device_work.h"
#include "profiler/analysis/waits.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/thread_states.h"

namespace kymo::analysis {
namespace {

using model::kNoTrack;
using model::ThreadTimes;
using model::Trace;
using model::TrackIndex;
using model::Wait;
using model::WaitKind;

// The threads of a process end together, but not at the very same time.
constexpr DurationNs kEndNs = 50 * kNsPerMs;

class Walker {
 public:
  explicit Walker(const Trace& trace)
      : trace_(trace), states_(*trace.thread_states()) {
    for (const ThreadTimes& times : states_.threads) {
      if (times.end_ns == 0) continue;
      const int64_t pid = trace.tracks()[times.track].pid;
      const int64_t parent =
          times.creator == kNoTrack ? pid : trace.tracks()[times.creator].pid;
      (parent == pid ? threads_ : children_)
          .emplace_back(parent, times.end_ns, times.track);
    }
    knows_wakes_ = std::ranges::any_of(states_.waits, [](const Wait& wait) {
      return wait.kind != WaitKind::kCpuBusy && wait.runnable_ns >= 0;
    });
    std::ranges::sort(threads_);
    std::ranges::sort(children_);
  }

  std::vector<WakeStep> Run() {
    const ThreadTimes& last = LastThread();
    track_ = last.track;
    time_ns_ = last.end_ns;
    while (Step()) {
    }
    std::ranges::reverse(steps_);
    return std::move(steps_);
  }

 private:
  // (process, the end of a thread, the thread)
  using End = std::tuple<int64_t, TimeNs, TrackIndex>;

  const ThreadTimes& LastThread() const {
    const ThreadTimes* first = nullptr;
    const ThreadTimes* last = nullptr;
    for (const ThreadTimes& times : states_.threads) {
      if (times.end_ns == 0) continue;
      if (first == nullptr || times.begin_ns < first->begin_ns) first = &times;
      const auto key = [](const ThreadTimes& t) {
        return std::pair(t.open_wait_ns == 0, t.end_ns);
      };
      if (last == nullptr || key(times) > key(*last)) last = &times;
    }
    const bool is_first =
        first->open_wait_ns == 0 && first->end_ns >= last->end_ns - kEndNs;
    return is_first || last->open_wait_ns != 0 ? *first : *last;
  }

  const ThreadTimes* TimesOf(TrackIndex track) const {
    const auto at = std::ranges::lower_bound(states_.threads, track, {},
                                             &ThreadTimes::track);
    return at == states_.threads.end() || at->track != track ? nullptr : &*at;
  }

  // The last wait of the thread that began before that time.
  const Wait* WaitBefore(TrackIndex track, TimeNs time_ns) const {
    const auto behind = std::ranges::lower_bound(
        states_.waits, std::pair(track, time_ns), {},
        [](const Wait& wait) { return std::pair(wait.track, wait.begin_ns); });
    if (behind == states_.waits.begin()) return nullptr;
    const auto at = std::prev(behind);
    return at->track == track ? &*at : nullptr;
  }

  // Goes back to `start_ns` on this thread.
  void Add(WakeCause cause, const Wait* wait, TimeNs start_ns) {
    if (start_ns >= time_ns_) return;
    steps_.push_back({.cause = cause,
                      .track = track_,
                      .start_ns = start_ns,
                      .end_ns = time_ns_,
                      .wait = wait});
    time_ns_ = start_ns;
    were_here_.clear();
  }

  // Goes on with another thread at this time. False: the path was on it at the
  // same time, so the records of the two contradict each other.
  bool GoTo(TrackIndex track) {
    if (track == kNoTrack || track == track_) return false;
    if (std::ranges::find(were_here_, track) != were_here_.end()) return false;
    const ThreadTimes* const times = TimesOf(track);
    // Its records are not of that time.
    if (times == nullptr || times->begin_ns >= time_ns_ ||
        times->end_ns < time_ns_) {
      return false;
    }
    were_here_.push_back(track_);
    track_ = track;
    return true;
  }

  bool Step() {
    const Wait* const wait = WaitBefore(track_, time_ns_);
    if (wait == nullptr || wait->end_ns() < time_ns_) {
      const ThreadTimes* const times = TimesOf(track_);
      const TimeNs begin_ns = times == nullptr ? time_ns_ : times->begin_ns;
      if (wait != nullptr && wait->end_ns() > begin_ns) {
        Add(WakeCause::kOnCpu, nullptr, wait->end_ns());
        return true;
      }
      Add(WakeCause::kOnCpu, nullptr, begin_ns);
      return times != nullptr && GoTo(times->creator);
    }
    const TimeNs woken_ns = wait->begin_ns + wait->blocked_ns();
    const bool is_runnable = wait->kind == WaitKind::kCpuBusy;
    Add(WakeCause::kRunnable, wait,
        is_runnable ? wait->begin_ns : std::min(woken_ns, time_ns_));
    if (time_ns_ <= wait->begin_ns || GoToCause(*wait)) return true;
    Add(WakeCause::kBlocked, wait, wait->begin_ns);
    return true;
  }

  bool GoToCause(const Wait& wait) {
    if (GoTo(wait.waker) || GoTo(HolderOf(wait).track)) return true;
    const std::optional<End> ended = EndThatEnded(wait);
    if (!ended) return false;
    // What came between the two is nobody's.
    const auto& [pid, end_ns, track] = *ended;
    Add(WakeCause::kBlocked, &wait, end_ns);
    return GoTo(track);
  }

  // The end of a child or of a thread that ended the wait, the last one before
  // this time. The kernel does not record whom a thread wakes at its end.
  std::optional<End> EndThatEnded(const Wait& wait) const {
    const bool is_child =
        wait.kind == WaitKind::kChild || IsPollEndedBySignal(wait);
    if (!is_child && !IsJoin(wait)) return std::nullopt;
    const std::vector<End>& ends = is_child ? children_ : threads_;
    const int64_t pid = trace_.tracks()[wait.track].pid;
    auto at = std::ranges::upper_bound(ends, End(pid, time_ns_, kNoTrack));
    while (at != ends.begin()) {
      --at;
      const auto& [parent, end_ns, track] = *at;
      if (parent != pid || end_ns <= wait.begin_ns) break;
      if (wait.kind != WaitKind::kChild || wait.object == 0 ||
          wait.object == static_cast<uint64_t>(trace_.tracks()[track].pid)) {
        return *at;
      }
    }
    return std::nullopt;
  }

  // All other wakes were seen: what nobody saw is the signal of a child's end.
  bool IsPollEndedBySignal(const Wait& wait) const {
    return knows_wakes_ && wait.kind == WaitKind::kPoll && wait.runnable_ns < 0;
  }

  bool IsJoin(const Wait& wait) const {
    if (wait.kind != WaitKind::kCondition) return false;
    const model::StackTable& stacks = trace_.stacks();
    for (model::StackId stack = wait.stack; stack != model::kEmptyStack;
         stack = stacks.parent(stack)) {
      const std::string_view function =
          trace_.Name(stacks.frame(stacks.leaf(stack)).function);
      // pthread_join, __pthread_clockjoin_ex, pthread_timedjoin_np
      if (function.starts_with("std::thread::join") ||
          (function.find("pthread_") != function.npos &&
           function.find("join") != function.npos)) {
        return true;
      }
    }
    return false;
  }

  const Trace& trace_;
  const model::ThreadStates& states_;
  bool knows_wakes_ = false;   // when threads were woken
  std::vector<End> threads_;   // by their process; sorted
  std::vector<End> children_;  // by the process that made them; sorted
  TrackIndex track_ = 0;
  TimeNs time_ns_ = 0;
  std::vector<TrackIndex> were_here_;  // where the path was at that time
  std::vector<WakeStep> steps_;        // the last one first
};

}  // namespace

bool HasWakePath(const Trace& trace) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr || states->waits.empty()) return false;
  const auto has_life = [](const ThreadTimes& t) { return t.end_ns != 0; };
  if (std::ranges::none_of(states->threads, has_life)) return false;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (WorkKindOf(trace, i) != WorkKind::kNone) return false;
  }
  return true;
}

std::vector<WakeStep> FindWakePath(const Trace& trace) {
  return Walker(trace).Run();
}

}  // namespace kymo::analysis
