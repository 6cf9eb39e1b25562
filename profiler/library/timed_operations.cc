#include "profiler/library/timed_operations.h"

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

namespace kymo {
namespace {

// The operations that are told apart by their order alone.
using Kind = std::pair<uint64_t, std::string>;  // logical id of thread, name

// The ranges of this process by kind, each in the order of their starts.
std::map<Kind, std::vector<model::EventIndex>> RangesOf(
    const model::Trace& trace) {
  std::map<Kind, std::vector<model::EventIndex>> ranges;
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    if (track.kind != model::TrackKind::kThread || track.pid != getpid()) {
      continue;
    }
    for (auto i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      if ((trace.flags()[i] & model::kEventInstant) != 0) continue;
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
    std::shared_ptr<void> begin;
    std::shared_ptr<void> end;  // null: it has not ended
  };

  std::unique_ptr<ObserverContext> Begin(const OperationView& operation) {
    if (!active) return nullptr;
    // Outside of the lock: the device's library may take its time.
    std::shared_ptr<void> event = events->record();
    const std::lock_guard guard(lock);
    operations.push_back({{operation.thread_id, std::string(operation.name)},
                          std::move(event),
                          nullptr});
    return std::make_unique<PlaceInState>(operations.size() - 1);
  }

  void End(const ObserverContext* context) {
    if (context == nullptr || !active) return;
    std::shared_ptr<void> event = events->record();
    const std::lock_guard guard(lock);
    operations[static_cast<const PlaceInState*>(context)->place].end =
        std::move(event);
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
  state_->active = false;
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
  std::map<Kind, std::vector<const State::Operation*>> timed;
  const std::lock_guard guard(state_->lock);
  for (const State::Operation& operation : state_->operations) {
    timed[operation.kind].push_back(&operation);
  }
  const auto ranges = RangesOf(trace);
  size_t left_out = 0;
  bool failed = false;
  for (const auto& [kind, operations] : timed) {
    const auto found = ranges.find(kind);
    if (found == ranges.end() || found->second.size() != operations.size()) {
      left_out += operations.size();
      continue;
    }
    for (size_t n = 0; n < operations.size(); ++n) {
      elapsed_us[found->second[n]] = state_->ElapsedUs(*operations[n], failed);
    }
  }
  if (failed) {
    Warn("Failed to measure time between two events of the device.");
  }
  if (left_out > 0) {
    Warn(absl::StrCat(
        left_out,
        " operations have no device time: some of them, or others of their "
        "name and thread, were not recorded; try a larger cpu_arena_mib"));
  }
  return elapsed_us;
}

}  // namespace kymo
