#include "profiler/library/timed_operations.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kymo/warning.h"
#include "profiler/base/clock.h"

namespace kymo {
namespace {

using model::ActivityType;

// The operations that only their times tell apart.
using Kind = std::pair<uint64_t, std::string>;  // logical id of thread, name

// How many forks made this process.
constinit std::atomic<uint64_t> forks{0};
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });

// Whether callbacks run for ranges of this type. They do not run for modules
// and for what was captured from NVTX and ITT.
bool IsOperation(const model::Trace& trace, model::EventIndex event) {
  const ActivityType type = trace.type()[event];
  return (type == ActivityType::kCpuOp ||
          type == ActivityType::kUserAnnotation) &&
         (trace.flags()[event] & model::kEventInstant) == 0;
}

// The operations of this process by kind, each in the order of their starts.
std::map<Kind, std::vector<model::EventIndex>> RangesOf(
    const model::Trace& trace) {
  std::map<Kind, std::vector<model::EventIndex>> ranges;
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    if (track.kind != model::TrackKind::kThread || track.pid != getpid()) {
      continue;
    }
    for (auto i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      if (!IsOperation(trace, i)) continue;
      ranges[{track.logical_id, std::string(trace.EventName(i))}].push_back(i);
    }
  }
  // A thread may have several lanes.
  for (auto& [kind, events] : ranges) {
    std::stable_sort(events.begin(), events.end(),
                     [&](model::EventIndex a, model::EventIndex b) {
                       return trace.start()[a] < trace.start()[b];
                     });
  }
  return ranges;
}

class PlaceInState : public ObserverContext {
 public:
  explicit PlaceInState(size_t place) : place(place) {}
  const size_t place;
};

}  // namespace

struct TimedOperations::State {
  struct Operation {
    Kind kind;
    uint64_t begin_ticks = 0;  // just before the range's own start
    std::shared_ptr<void> begin;
    std::shared_ptr<void> end;  // null: it has not ended
    bool failed = false;        // its end could not be recorded
  };

  explicit State(std::shared_ptr<const DeviceEvents> device_events)
      : events(std::move(device_events)) {}

  // A forked child neither has the session nor may wait for `lock`, which a
  // thread of its parent may have held.
  bool IsOurs() const { return forks.load(std::memory_order_relaxed) == fork; }

  std::unique_ptr<ObserverContext> Begin(const OperationView& view) {
    if (!active || !IsOurs()) return nullptr;
    Operation operation;
    operation.kind = {view.thread_id, std::string(view.name)};
    // Outside of the lock: the device's library may take its time. An exception
    // becomes a warning, and the range has no operation.
    operation.begin = events->record();
    return std::make_unique<PlaceInState>(Add(std::move(operation)));
  }

  void End(const ObserverContext* context) {
    if (context == nullptr || !active || !IsOurs()) return;
    const size_t place = static_cast<const PlaceInState*>(context)->place;
    std::shared_ptr<void> event;
    try {
      event = events->record();
    } catch (...) {
      const std::lock_guard guard(lock);
      operations[place].failed = true;
      throw;
    }
    const std::lock_guard guard(lock);
    operations[place].end = std::move(event);
  }

  // Returns its place. The range begins soon after that.
  size_t Add(Operation operation) {
    const std::lock_guard guard(lock);
    operation.begin_ticks = ReadTicks(source);
    operations.push_back(std::move(operation));
    return operations.size() - 1;
  }

  // 0: not known.
  int64_t ElapsedUs(const Operation& operation, bool& failed) const {
    if (operation.begin == nullptr || operation.end == nullptr) return 0;
    try {
      const double us =
          events->elapsed_us(operation.begin.get(), operation.end.get());
      return us > 0 && us < 1e15 ? static_cast<int64_t>(us) : 0;
    } catch (...) {
      failed = true;
      return 0;
    }
  }

  const std::shared_ptr<const DeviceEvents> events;
  const uint64_t fork = forks.load(std::memory_order_relaxed);
  const ClockSource source = DetectClockSource();
  const ClockAnchor first_anchor = MeasureAnchor(source);
  std::mutex lock;
  std::atomic<bool> active = true;
  std::vector<Operation> operations;  // of a thread, in the order of starts
};

TimedOperations::TimedOperations(std::shared_ptr<const DeviceEvents> events,
                                 bool all_threads)
    : all_threads_(all_threads),
      state_(std::make_shared<State>(std::move(events))) {
  RecordFunctionCallback callback(
      [state = state_](const OperationView& operation) {
        return state->Begin(operation);
      },
      [state = state_](const OperationView&, ObserverContext* context) {
        state->End(context);
      });
  callback_ = all_threads ? AddGlobalCallback(std::move(callback))
                          : AddThreadLocalCallback(std::move(callback));
}

void TimedOperations::Stop() {
  if (!state_->IsOurs()) return;  // a forked child's, which takes no lock
  if (state_->active.exchange(false)) {
    last_anchor_ = MeasureAnchor(state_->source);
  }
  // Another thread cannot remove a callback of the owner. It does nothing now.
  if (callback_ != 0 &&
      (all_threads_ || owner_ == std::this_thread::get_id())) {
    RemoveCallback(callback_);
    callback_ = 0;
  }
}

std::vector<int64_t> TimedOperations::ElapsedUs(
    const model::Trace& trace) const {
  std::vector<int64_t> elapsed_us(trace.event_count());
  if (!state_->IsOurs()) return elapsed_us;
  std::map<Kind, std::vector<const State::Operation*>> timed;
  const std::lock_guard guard(state_->lock);
  for (const State::Operation& operation : state_->operations) {
    timed[operation.kind].push_back(&operation);
  }
  const TickConverter clock(state_->source, state_->first_anchor, last_anchor_,
                            EpochOffsetNs());
  // The trace's times come from two anchors of its own.
  const DurationNs slack_ns = 2 * clock.error_ns();
  size_t operation_count = 0;
  size_t untimed = 0;
  bool failed = false;
  for (const auto& [kind, ranges] : RangesOf(trace)) {
    const std::vector<const State::Operation*>& operations = timed[kind];
    operation_count += ranges.size();
    // The operations that began before the range, of which the last is its own
    // unless an earlier range has taken it.
    size_t begun = 0;
    for (const model::EventIndex range : ranges) {
      const size_t begun_earlier = begun;
      while (begun < operations.size() &&
             clock.ToEpochNs(operations[begun]->begin_ticks) <=
                 trace.start()[range] + slack_ns) {
        ++begun;
      }
      if (begun == begun_earlier || operations[begun - 1]->failed) {
        ++untimed;
      } else {
        elapsed_us[range] = state_->ElapsedUs(*operations[begun - 1], failed);
      }
    }
  }
  if (failed) {
    Warn("Failed to measure time between two events of the device.");
  }
  if (untimed > 0) {
    Warn(absl::StrCat(untimed, " of ", operation_count,
                      " operations have no device time: they began before the "
                      "session could time them, or the device's `record` threw "
                      "an exception"));
  }
  return elapsed_us;
}

}  // namespace kymo
