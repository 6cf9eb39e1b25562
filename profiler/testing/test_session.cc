#include "profiler/testing/test_session.h"

#include <stdio.h>

#include <algorithm>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "kymo/record_function.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/time.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"

namespace kymo {
namespace {

// Starting and stopping a session takes memory, and waits, too. These mark what
// is the test's.
constexpr const char kBegin[] = "kymo: a test begins";
constexpr const char kEnd[] = "kymo: a test ends";

}  // namespace

void TestSession::Start() {
  // Waits need perf events, which not every kernel permits.
  for (const bool with_waits : {true, false}) {
    std::vector<std::string> activities = {"cpu"};
    if (with_waits) activities.emplace_back("off_cpu");
    // Stacks of allocations would cost more than most tests take.
    profile_ = std::make_unique<Profile>(
        ProfileOptions{.activities = activities,
                       .profile_memory = true,
                       .experimental_config = {.profile_all_threads = true,
                                               .trace_only = true},
                       .settings = {{"memory_stacks", "false"}}});
    const absl::Status status = profile_->Start();
    error_ = std::string(status.message());
    if (status.ok()) break;
  }
  Instant(kBegin);
}

TestAmounts TestSession::Stop(EnclosingBlock enclosing) {
  Instant(kEnd);
  TestAmounts amounts;
  if (error_.empty()) {
    const absl::Status status = profile_->Stop();
    if (!status.ok()) error_ = std::string(status.message());
  }
  if (error_.empty() && profile_->trace() != nullptr) {
    amounts = AmountsOf(*profile_->trace(), enclosing);
  }
  amounts.error = error_;
  if (!error_.empty()) {
    static const bool said = [&] {
      fprintf(stderr, "kymo: a test is not recorded: %s\n", error_.c_str());
      return true;
    }();
    (void)said;
  }
  profile_.reset();
  return amounts;
}

namespace {

class Window {
 public:
  explicit Window(const model::Trace& trace)
      : begin_(trace.start_ns()), end_(trace.end_ns()) {
    for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
      if (trace.EventName(i) == kBegin) begin_ = trace.start()[i];
      if (trace.EventName(i) == kEnd) end_ = trace.start()[i];
    }
  }

  bool Has(TimeNs time_ns) const {
    return begin_ <= time_ns && time_ns <= end_;
  }
  DurationNs duration_ns() const { return end_ - begin_; }

 private:
  TimeNs begin_;
  TimeNs end_;
};

struct HeapChange {
  analysis::MemoryMoment moment;
  model::MemoryIndex block = 0;  // the record of its allocation
  int64_t bytes = 0;             // negative: it was freed
  bool is_allocation = true;
};

// The block that encloses all others: the first one, if its free is the last
// change.
void RemoveEnclosingBlock(std::vector<HeapChange>& changes) {
  if (changes.size() < 2 || changes.front().block != changes.back().block) {
    return;
  }
  changes.pop_back();
  changes.erase(changes.begin());
}

// Kymo's own threads note the waits of the test's in memory.
bool IsOwnThread(const model::Trace& trace, model::TrackIndex track) {
  return trace.Name(trace.tracks()[track].name).starts_with("kymo-");
}

// Of blocks that were allocated in the window.
std::vector<HeapChange> HeapChanges(const model::Trace& trace,
                                    const Window& window) {
  const analysis::MemoryBlocks blocks(trace);
  std::vector<HeapChange> changes;
  for (model::MemoryIndex i = 0; i < trace.memory().size(); ++i) {
    const model::MemoryRecord& record = trace.memory()[i];
    if (record.source != model::MemorySource::kHeap ||
        !window.Has(record.time_ns) || !blocks.IsAllocation(i) ||
        IsOwnThread(trace, record.track)) {
      continue;
    }
    changes.push_back({blocks.MomentOf(i), i, record.bytes, true});
    if (record.partner != model::kNoMemory &&
        window.Has(trace.memory()[record.partner].time_ns)) {
      changes.push_back(
          {blocks.MomentOf(record.partner), i, -record.bytes, false});
    }
  }
  std::ranges::sort(changes, {}, &HeapChange::moment);
  return changes;
}

void AddHeap(const std::vector<HeapChange>& changes, TestAmounts& amounts) {
  for (const HeapChange& change : changes) {
    if (change.is_allocation) {
      ++amounts.allocations;
      amounts.allocated_bytes += change.bytes;
    }
    amounts.alive_bytes += change.bytes;
    amounts.peak_bytes = std::max(amounts.peak_bytes, amounts.alive_bytes);
  }
}

// Waits that began in the window.
void AddWaits(const model::Trace& trace, const Window& window,
              TestAmounts& amounts) {
  if (trace.thread_states() == nullptr) return;
  const std::vector<bool> idle = analysis::IdleWaits(trace);
  std::map<model::StackId, DurationNs> by_stack;
  size_t index = 0;
  for (const model::Wait& wait : trace.thread_states()->waits) {
    if (idle[index++] || !window.Has(wait.begin_ns)) continue;
    ++amounts.waits;
    amounts.wait_ns += wait.duration_ns;
    by_stack[wait.stack] += wait.duration_ns;
  }
  const auto longest = std::ranges::max_element(
      by_stack, {}, [](const auto& place) { return place.second; });
  if (longest == by_stack.end()) return;
  amounts.waited_in = analysis::WaitPlaces(trace).Of(longest->first);
}

}  // namespace

TestAmounts AmountsOf(const model::Trace& trace, EnclosingBlock enclosing) {
  TestAmounts amounts;
  const Window window(trace);
  amounts.duration_ns = window.duration_ns();
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    amounts.ranges += trace.end()[i] > trace.start()[i] ? 1 : 0;
  }
  std::vector<HeapChange> changes = HeapChanges(trace, window);
  if (enclosing == EnclosingBlock::kLeaveOut) RemoveEnclosingBlock(changes);
  AddHeap(changes, amounts);
  AddWaits(trace, window, amounts);
  return amounts;
}

}  // namespace kymo
