// Long, because all sums of waits share the rule that tells idle ones.
#include "profiler/analysis/waits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profiler/analysis/lock_origins.h"
#include "profiler/analysis/open_events.h"
#include "profiler/analysis/stacks_through.h"
#include "profiler/analysis/steps.h"
#include "profiler/analysis/wait_groups.h"
#include "profiler/model/shared_objects.h"
#include "profiler/model/thread_states.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::kNoEvent;
using model::Trace;
using model::TrackIndex;
using model::Wait;
using model::WaitKind;
using model::WaitSum;

bool IsKindOfWork(WaitKind kind) {
  return kind == WaitKind::kCondition || kind == WaitKind::kPoll ||
         kind == WaitKind::kNetwork || kind == WaitKind::kPipe;
}

bool HasRanges(const Trace& trace, TrackIndex track) {
  for (EventIndex i = trace.track_begin(track); i < trace.track_end(track);
       ++i) {
    if (model::IsRange(trace.flags()[i])) return true;
  }
  return false;
}

// The waits of one thread, in time order, with the ranges that they are in.
struct ThreadWaits {
  TrackIndex track = 0;
  std::span<const Wait> waits;
  std::vector<EventIndex> innermost;  // by wait; kNoEvent: none
};

std::vector<ThreadWaits> WaitsByThread(const Trace& trace) {
  std::vector<ThreadWaits> threads;
  if (trace.thread_states() == nullptr) return threads;
  std::span<const Wait> rest = trace.thread_states()->waits;
  while (!rest.empty()) {
    ThreadWaits thread;
    thread.track = rest.front().track;
    const auto end = std::ranges::find_if(
        rest, [&](const Wait& wait) { return wait.track != thread.track; });
    thread.waits = {rest.begin(), end};
    rest = rest.subspan(thread.waits.size());
    OpenEvents open(trace, thread.track, thread.waits.front().begin_ns);
    for (const Wait& wait : thread.waits) {
      EventIndex event = open.InnermostAt(wait.begin_ns);
      while (event != kNoEvent && trace.end()[event] <= wait.begin_ns) {
        event = trace.parent()[event];
      }
      thread.innermost.push_back(event);
    }
    threads.push_back(std::move(thread));
  }
  return threads;
}

// Where threads of Go wait for goroutines that can run, and the monitor, which
// only sleeps. Goroutines wait without a thread. So what such a thread waits
// for is work, whatever its system call is. And where the first thread of
// `java` waits for the end of the thread that runs the program.
constexpr std::string_view kRuntimes[] = {
    "runtime.findRunnable", "runtime.findrunnable", "runtime.stopm",
    "runtime.stoplockedm",  "runtime.sysmon",       "CallJavaMainInNewThread"};

// What they wait in. Where a look found no caller of it, as in programs without
// symbols, it is the scheduler's: others wait there for microseconds.
constexpr std::string_view kGoWaits[] = {"runtime.futex", "runtime.usleep",
                                         "runtime.epollwait"};

// What begins the names of Kymo's own functions, where ranks of MPI measure
// their clocks (profiler/symbolize/raw_stack_names.cc).
constexpr std::string_view kOwnCode = "[Kymo] ";

// Most traces have no calls of MPI: then no name is looked at.
StacksThrough OwnCode(const Trace& trace) {
  for (const char* const call :
       {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"}) {
    if (trace.strings().Find(call)) return StacksThrough(trace, kOwnCode);
  }
  return StacksThrough(trace, std::span<const std::string_view>());
}

// Tells stacks that end in the runtime that Kymo preloads.
class StacksInRuntime {
 public:
  explicit StacksInRuntime(const Trace& trace) : trace_(trace) {}

  bool Has(model::StackId stack) {
    const auto [at, is_new] = known_.try_emplace(model::Index(stack));
    if (is_new) at->second = Look(stack);
    return at->second;
  }

 private:
  bool Look(model::StackId stack) const {
    const model::StackTable& stacks = trace_.stacks();
    for (; stack != model::kEmptyStack; stack = stacks.parent(stack)) {
      const model::Frame& frame = stacks.frame(stacks.leaf(stack));
      if (frame.is_kernel) continue;
      const std::string_view file = trace_.Name(frame.module);
      return file.substr(file.rfind('/') + 1).starts_with("libkymo_runtime");
    }
    return false;
  }

  const Trace& trace_;
  std::unordered_map<uint32_t, bool> known_;  // by stack
};

// Python starts its resource tracker by `python -c`. It is a process of its
// own, and waits there for requests of the others.
StacksThrough HelpersOfPython(const Trace& trace) {
  if (trace.strings().Find("<module> (<string>:1)")) {
    return StacksThrough(trace, "main (resource_tracker.py:");
  }
  return StacksThrough(trace, std::span<const std::string_view>());
}

// The kernel's own threads and their parent wait for work of the kernel's.
// Nobody sees where. Sorted; empty if the trace has none.
std::vector<int64_t> KernelThreads(const Trace& trace) {
  constexpr int64_t kParent = 2;
  std::vector<int64_t> pids;
  bool has_parent = false;
  for (const model::Process& process : trace.processes()) {
    if (process.pid == kParent)
      has_parent = trace.Name(process.name) == "kthreadd";
    if (process.pid == kParent || process.parent_pid == kParent) {
      pids.push_back(process.pid);
    }
  }
  if (!has_parent) pids.clear();
  std::ranges::sort(pids);
  return pids;
}

// They wait for threads that they woke, which is no wait for work.
constexpr std::string_view kNotifiers[] = {
    "pthread_cond_signal",      "__pthread_cond_signal",
    "___pthread_cond_signal",   "pthread_cond_broadcast",
    "__pthread_cond_broadcast", "___pthread_cond_broadcast"};

// Whether waits of a kind that are outside of all ranges are idle.
class IdleRule {
 public:
  explicit IdleRule(const Trace& trace)
      : trace_(trace),
        has_ranges_(trace.tracks().size(), kUnknown),
        runtimes_(trace, kRuntimes),
        go_waits_(trace, kGoWaits),
        own_(OwnCode(trace)),
        runtime_(trace),
        helpers_(HelpersOfPython(trace)),
        kernel_threads_(KernelThreads(trace)),
        notifiers_(trace, kNotifiers) {}

  bool IsIdle(const Wait& wait, EventIndex innermost) {
    if (own_.Has(wait.stack) || IsOfRuntime(wait) || IsOfKernel(wait)) {
      return true;
    }
    if (innermost != kNoEvent) return false;
    if (IsIdleInRuntime(wait)) return true;
    if (!MayWaitForWork(wait)) return false;
    return !IsFirstThread(wait.track) || Has(wait.track) ||
           IsForClients(wait) || helpers_.Has(wait.stack);
  }
  bool IsIdle(const WaitSum& sum) {
    if (own_.Has(sum.stack) || IsOfRuntime(sum) || IsOfKernel(sum) ||
        IsIdleInRuntime(sum)) {
      return true;
    }
    if (!MayWaitForWork(sum)) return false;
    return helpers_.Has(sum.stack) ||
           ((!IsFirstThread(sum.track) || IsForClients(sum)) &&
            !Has(sum.track));
  }

 private:
  enum Answer : uint8_t { kUnknown, kNo, kYes };

  // A preempted thread has something to run, wherever it was: hooks of the
  // runtime are called by the program.
  template <typename W>
  bool IsOfRuntime(const W& wait) {
    return wait.kind != WaitKind::kCpuBusy && runtime_.Has(wait.stack);
  }
  template <typename W>
  bool IsOfKernel(const W& wait) const {
    return wait.kind == WaitKind::kUnknown &&
           std::ranges::binary_search(kernel_threads_,
                                      trace_.tracks()[wait.track].pid);
  }
  template <typename W>
  bool MayWaitForWork(const W& wait) {
    return IsKindOfWork(wait.kind) && !notifiers_.Has(wait.stack);
  }
  // A socket that listens is a server's: by itself, or in the set that its main
  // loop polls. A client that waits for its server's answer has none.
  template <typename W>
  bool IsForClients(const W& wait) const {
    return (wait.kind == WaitKind::kPoll || wait.kind == WaitKind::kNetwork) &&
           trace_.Name(wait.object_name).find(" listening on ") !=
               std::string_view::npos;
  }
  template <typename W>
  bool IsIdleInRuntime(const W& wait) {
    return wait.kind != WaitKind::kCpuBusy &&
           (runtimes_.Has(wait.stack) ||
            (go_waits_.Has(wait.stack) && HasOneFunction(wait.stack)));
  }
  bool HasOneFunction(model::StackId stack) const {
    return trace_.stacks().parent(stack) == model::kEmptyStack;
  }
  bool IsFirstThread(TrackIndex track) const {
    return trace_.tracks()[track].id == trace_.tracks()[track].pid;
  }
  bool Has(TrackIndex track) {
    if (has_ranges_[track] == kUnknown) {
      has_ranges_[track] = HasRanges(trace_, track) ? kYes : kNo;
    }
    return has_ranges_[track] == kYes;
  }

  const Trace& trace_;
  std::vector<Answer> has_ranges_;  // by track
  StacksThrough runtimes_;
  StacksThrough go_waits_;
  StacksThrough own_;
  StacksInRuntime runtime_;
  StacksThrough helpers_;
  std::vector<int64_t> kernel_threads_;  // their pids, sorted
  StacksThrough notifiers_;
};

// each(wait, is_idle) in the order of thread_states()->waits
template <typename Each>
void ForEachSingleWait(const Trace& trace, IdleRule& rule, const Each& each) {
  for (const ThreadWaits& thread : WaitsByThread(trace)) {
    for (size_t i = 0; i < thread.waits.size(); ++i) {
      each(thread.waits[i], rule.IsIdle(thread.waits[i], thread.innermost[i]));
    }
  }
}

// each(wait or sum, is_idle)
template <typename Each>
void ForEachWait(const Trace& trace, const Each& each) {
  if (trace.thread_states() == nullptr) return;
  IdleRule rule(trace);
  ForEachSingleWait(trace, rule, each);
  for (const WaitSum& sum : trace.thread_states()->short_waits) {
    each(sum, rule.IsIdle(sum));
  }
}

// A preempted thread is not blocked.
DurationNs BlockedOf(const Wait& wait) { return wait.blocked_ns(); }
DurationNs BlockedOf(const WaitSum& sum) {
  return sum.kind == WaitKind::kCpuBusy ? 0 : sum.duration_ns;
}

// With a stack, if one is known: who gave the lock back had it, too.
LockHolder HolderWithStack(const Wait& wait) {
  const LockHolder holder = HolderOf(wait);
  if (holder.stack != model::kEmptyStack ||
      wait.waker_stack == model::kEmptyStack) {
    return holder;
  }
  return {wait.waker, wait.waker_stack};
}
LockHolder HolderWithStack(const WaitSum&) { return {}; }

// add(event, ns) of each range that a part of [begin_ns, end_ns) belongs to.
// `event` was open at the begin. What is left at its end is its parent's.
template <typename Add>
void Divide(const Trace& trace, EventIndex event, TimeNs begin_ns,
            TimeNs end_ns, const Add& add) {
  for (; event != kNoEvent && begin_ns < end_ns;
       event = trace.parent()[event]) {
    const TimeNs stop_ns = std::min(end_ns, trace.end()[event]);
    if (stop_ns <= begin_ns) continue;
    add(event, stop_ns - begin_ns);
    begin_ns = stop_ns;
  }
}

// Adds the time of each event of a track to the ranges around it.
void AddToParents(const Trace& trace, TrackIndex track,
                  std::vector<DurationNs>& by_event) {
  for (EventIndex i = trace.track_end(track); i-- > trace.track_begin(track);) {
    const EventIndex parent = trace.parent()[i];
    if (parent != kNoEvent) by_event[parent] += by_event[i];
  }
}

class Splitter {
 public:
  explicit Splitter(const Trace& trace) : trace_(trace) {}

  std::vector<RangeSplit> Run() {
    const std::vector<ThreadWaits> threads = WaitsByThread(trace_);
    if (threads.empty()) return {};
    row_of_event_.resize(trace_.event_count(), kNoRow);
    by_event_.resize(trace_.event_count());
    for (const model::ThreadTimes& times : trace_.thread_states()->threads) {
      AddRanges(times.track);
    }
    for (const ThreadWaits& thread : threads) AddWaits(thread);
    for (RangeSplit& row : rows_) {
      row.on_cpu_ns = row.duration_ns - row.wait_ns();
    }
    std::ranges::sort(rows_, [](const RangeSplit& a, const RangeSplit& b) {
      return std::tuple(-a.wait_ns(), a.name) <
             std::tuple(-b.wait_ns(), b.name);
    });
    return std::move(rows_);
  }

 private:
  static constexpr uint32_t kNoRow = ~uint32_t{0};

  void AddRanges(TrackIndex track) {
    for (EventIndex i = trace_.track_begin(track); i < trace_.track_end(track);
         ++i) {
      const uint8_t flags = trace_.flags()[i];
      if (!model::IsRange(flags) || (flags & model::kEventRepeated) != 0) {
        continue;
      }
      row_of_event_[i] = RowOf(trace_.EventName(i));
      RangeSplit& row = rows_[row_of_event_[i]];
      ++row.count;
      row.duration_ns += trace_.end()[i] - trace_.start()[i];
    }
  }

  uint32_t RowOf(std::string_view name) {
    if (name.starts_with(kStepPrefix)) name = kAllSteps;
    const auto [at, is_new] = row_of_name_.try_emplace(name, rows_.size());
    if (is_new) rows_.push_back({.name = std::string(name)});
    return at->second;
  }

  void AddWaits(const ThreadWaits& thread) {
    uint32_t kinds = 0;  // a bit each
    for (const Wait& wait : thread.waits) {
      kinds |= uint32_t{1} << static_cast<uint32_t>(wait.kind);
    }
    for (size_t kind = 0; kind < kWaitKinds; ++kind) {
      if ((kinds >> kind & 1) == 0) continue;
      AddPart(
          thread,
          [&](const Wait& wait) {
            return static_cast<size_t>(wait.kind) == kind
                       ? std::pair(wait.begin_ns,
                                   wait.begin_ns + wait.blocked_ns())
                       : std::pair<TimeNs, TimeNs>();
          },
          [&](RangeSplit& row) -> DurationNs& { return row.blocked_ns[kind]; });
    }
    AddPart(
        thread,
        [](const Wait& wait) {
          return std::pair(wait.begin_ns + wait.blocked_ns(), wait.end_ns());
        },
        [](RangeSplit& row) -> DurationNs& { return row.runnable_ns; });
  }

  // Adds a part of each wait, [begin, end), to a member of the rows.
  template <typename PartOf, typename MemberOf>
  void AddPart(const ThreadWaits& thread, const PartOf& part_of,
               const MemberOf& member_of) {
    for (size_t i = 0; i < thread.waits.size(); ++i) {
      const auto [begin_ns, end_ns] = part_of(thread.waits[i]);
      Divide(trace_, thread.innermost[i], begin_ns, end_ns,
             [&](EventIndex event, DurationNs ns) { by_event_[event] += ns; });
    }
    AddToParents(trace_, thread.track, by_event_);
    for (EventIndex i = trace_.track_begin(thread.track);
         i < trace_.track_end(thread.track); ++i) {
      const DurationNs ns = std::exchange(by_event_[i], 0);
      if (ns == 0 || row_of_event_[i] == kNoRow) continue;
      member_of(rows_[row_of_event_[i]]) += ns;
    }
  }

  const Trace& trace_;
  std::vector<RangeSplit> rows_;
  std::unordered_map<std::string_view, uint32_t> row_of_name_;
  std::vector<uint32_t> row_of_event_;  // kNoRow: it has none
  std::vector<DurationNs> by_event_;    // zeros between two parts
};

}  // namespace

std::vector<WaitGroup> WaitsByPlace(const Trace& trace) {
  WaitGroups groups;
  ForEachWait(trace, [&](const auto& wait, bool is_idle) {
    groups.Add(model::kNoTrack, wait, is_idle);
  });
  return groups.Sorted();
}

std::vector<WaitGroup> WaitsByThreadAndPlace(const Trace& trace) {
  WaitGroups groups;
  ForEachWait(trace, [&](const auto& wait, bool is_idle) {
    groups.Add(wait.track, wait, is_idle);
  });
  return groups.Sorted();
}

std::vector<bool> IdleWaits(const Trace& trace) {
  std::vector<bool> idle;
  IdleRule rule(trace);
  ForEachSingleWait(
      trace, rule, [&](const Wait&, bool is_idle) { idle.push_back(is_idle); });
  return idle;
}

LockHolder HolderOf(const Wait& wait) {
  if (wait.kind != WaitKind::kLock) return {};
  if (wait.holder == model::kNoTrack) return {wait.waker, wait.waker_stack};
  const bool has_ended_it = wait.waker == wait.holder;
  return {wait.holder, wait.holder_stack == model::kEmptyStack && has_ended_it
                           ? wait.waker_stack
                           : wait.holder_stack};
}

LockKey LockKeyOf(const Trace& trace, TrackIndex track, uint64_t object,
                  model::NameId name) {
  if (model::IsShared(trace.Name(name))) return {0, 0, name};
  return {trace.tracks()[track].pid, object, name};
}

std::vector<LockWaits> WaitsByLock(const Trace& trace) {
  struct Lock {
    LockWaits waits;
    WaitGroups waiters;
    WaitGroups holders;
  };
  std::map<LockKey, Lock> locks;
  LockOrigins origins;
  ForEachWait(trace, [&](const auto& wait, bool is_idle) {
    if (wait.kind != WaitKind::kLock) return;
    const LockKey key =
        LockKeyOf(trace, wait.track, wait.object, wait.object_name);
    auto& [lock, waiters, holders] = locks[key];
    lock.is_shared = model::IsShared(trace.Name(wait.object_name));
    std::tie(lock.pid, lock.object, lock.name) = key;
    AddTo(lock, wait);
    origins.OnWait(lock, wait);
    waiters.Add(model::kNoTrack, wait, is_idle);
    const LockHolder holder = HolderWithStack(wait);
    holders.Add(holder.track, wait, is_idle, holder.stack);
  });
  std::vector<LockWaits> sorted;
  for (auto& [key, lock] : locks) {
    sorted.push_back(std::move(lock.waits));
    sorted.back().waiters = lock.waiters.Sorted();
    sorted.back().holders = lock.holders.Sorted();
    std::ranges::stable_sort(sorted.back().holders, std::greater(),
                             &WaitGroup::duration_ns);
  }
  std::ranges::stable_sort(sorted, std::greater(), &LockWaits::duration_ns);
  origins.Fill(trace, sorted);
  return sorted;
}

std::vector<DurationNs> WaitTimesOfRanges(const Trace& trace) {
  const std::vector<ThreadWaits> threads = WaitsByThread(trace);
  if (threads.empty()) return {};
  std::vector<DurationNs> times(trace.event_count(), kNoWaitTime);
  for (const model::ThreadTimes& recorded : trace.thread_states()->threads) {
    for (EventIndex i = trace.track_begin(recorded.track);
         i < trace.track_end(recorded.track); ++i) {
      times[i] = 0;
    }
  }
  for (const ThreadWaits& thread : threads) {
    for (size_t i = 0; i < thread.waits.size(); ++i) {
      Divide(trace, thread.innermost[i], thread.waits[i].begin_ns,
             thread.waits[i].end_ns(),
             [&](EventIndex event, DurationNs ns) { times[event] += ns; });
    }
    AddToParents(trace, thread.track, times);
  }
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    if (!model::IsRange(trace.flags()[i])) times[i] = kNoWaitTime;
  }
  return times;
}

DurationNs RangeSplit::all_blocked_ns() const {
  DurationNs sum = 0;
  for (const DurationNs ns : blocked_ns) sum += ns;
  return sum;
}

std::vector<RangeSplit> SplitRanges(const Trace& trace) {
  return Splitter(trace).Run();
}

namespace {

// By track: which part of its waits a thread was blocked. In the rest it was
// runnable. Where nobody saw when waits ended, only the thread's times know.
std::vector<double> BlockedParts(const Trace& trace) {
  const model::ThreadStates& states = *trace.thread_states();
  std::vector<DurationNs> waited_ns(trace.tracks().size());
  for (const Wait& wait : states.waits) {
    waited_ns[wait.track] += BlockedOf(wait);
  }
  for (const WaitSum& sum : states.short_waits) {
    waited_ns[sum.track] += BlockedOf(sum);
  }
  std::vector<double> parts(waited_ns.size(), 1);
  for (const model::ThreadTimes& times : states.threads) {
    const auto waited = static_cast<double>(waited_ns[times.track]);
    const auto blocked = static_cast<double>(times.blocked_ns());
    if (waited > blocked && times.wall_ns > 0) {
      parts[times.track] = blocked / waited;
    }
  }
  return parts;
}

}  // namespace

WaitSummary SummarizeWaits(const Trace& trace) {
  WaitSummary summary;
  if (trace.thread_states() == nullptr) return summary;
  const std::vector<double> parts = BlockedParts(trace);
  double idle_ns = 0;
  std::array<double, kWaitKinds> blocked_ns = {};
  ForEachWait(trace, [&](const auto& wait, bool is_idle) {
    (is_idle ? idle_ns : blocked_ns[static_cast<size_t>(wait.kind)]) +=
        static_cast<double>(BlockedOf(wait)) * parts[wait.track];
  });
  summary.idle_ns = std::llround(idle_ns);
  for (size_t kind = 0; kind < kWaitKinds; ++kind) {
    summary.blocked_ns[kind] = std::llround(blocked_ns[kind]);
  }
  return summary;
}

}  // namespace kymo::analysis
