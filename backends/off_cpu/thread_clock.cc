// Long, because each way in which records can be missing has its rule.
#include "backends/off_cpu/thread_clock.h"

#include <algorithm>
#include <utility>

#include "backends/off_cpu/look/thread_counts.h"

namespace kymo::off_cpu {
namespace {

using model::RunQueueTime;
using model::ThreadTimes;

// Threads are read every so often: 400 a second while there are few. What one
// waited after it was last read is not known if it ends then.
constexpr uint64_t kLeastReadPeriodNs = 10 * kNsPerMs;
constexpr uint64_t kReadPeriodNs = 100 * kNsPerMs;
constexpr uint64_t kPeriodOfEachNs = kReadPeriodNs / 40;
// How many threads NextToRead looks at before it gives up.
constexpr int kMostLooks = 64;
// The same of NextBlocked: some 0.1 ms.
constexpr size_t kMostBlockedLooks = 2'000;

// In how long a time around the reading of a thread's time on a CPU it may have
// run. A thread that switches so often hides much more in a reading's period.
constexpr uint64_t kMostDoubtNs = 50'000;
// A switch of a thread that sleeps takes up to 12 us between its two records.
constexpr uint64_t kMostHiddenNs = 15'000;

// While a thread is on a CPU, each tick counts its time: every 10 ms at least.
// A CPU that was set apart for one thread (nohz_full) has a tick each second,
// so a thread that runs there seems to wait in a shorter recording.
constexpr uint64_t kTwoTicksNs = 20 * kNsPerMs;

uint64_t Switches(const ThreadTimes& times) {
  return times.voluntary_switches + times.involuntary_switches;
}

}  // namespace

bool ThreadClock::Start(uint32_t pid, uint32_t tid, uint64_t time_ns,
                        State state) {
  if (live_.size() + ended_.size() >= most_threads_) return false;
  LiveThread& thread = live_[tid];
  thread = {.pid = pid, .state = state, .since_ns = time_ns};
  thread.times.begin_ns = static_cast<TimeNs>(time_ns);
  turns_.push_back(tid);
  List(tid, thread);
  return true;
}

void ThreadClock::Enter(uint32_t tid, LiveThread& thread, uint64_t time_ns,
                        State next, StateEnd end) {
  const DurationNs passed_ns =
      time_ns > thread.since_ns
          ? static_cast<DurationNs>(time_ns - thread.since_ns)
          : 0;
  ThreadTimes& times = thread.times;
  times.wall_ns += passed_ns;
  const bool is_unknown = end == StateEnd::kContradiction || IsUnknown(thread);
  UseCpuTimeRead(thread, time_ns, is_unknown);
  if (!is_unknown && thread.state != State::kOnCpu && passed_ns > 0 &&
      on_off_cpu_) {
    on_off_cpu_({.thread = {thread.pid, tid},
                 .begin_ns = thread.since_ns,
                 .end_ns = time_ns,
                 .is_runnable = thread.state == State::kRunnable,
                 .is_open = end == StateEnd::kRecordingEnd});
  }
  if (is_unknown) {
    times.unknown_ns += passed_ns;
  } else if (thread.state == State::kOnCpu) {
    times.on_cpu_ns += passed_ns;
  } else if (thread.state == State::kRunnable) {
    times.runnable_ns += passed_ns;
    // The records are behind: such a wait may have ended before that.
    if (time_ns >= thread.run_queue_read_ns) {
      thread.runnable_since_read_ns += passed_ns;
    }
  } else if (time_ns > thread.run_queue_read_ns) {
    thread.is_read_at_end = false;
  }
  thread.since_ns = std::max(thread.since_ns, time_ns);
  thread.state = next;
  thread.is_doubtful = false;
  List(tid, thread);
}

// While a thread is on its CPU, the kernel's count may be that of when it got
// there. If it got there or left during the reading, it may be either.
void ThreadClock::UseCpuTimeRead(LiveThread& thread, uint64_t time_ns,
                                 bool is_unknown) {
  const std::optional<CpuTimeRead>& read = thread.cpu_time_read;
  if (!read || time_ns <= read->begin_ns) return;
  if (read->is_own) {
    if (!is_unknown && thread.state == State::kOnCpu &&
        thread.since_ns <= read->end_ns) {
      thread.last_hidden = {
          read->on_cpu_ns - thread.times.on_cpu_ns -
              static_cast<DurationNs>(read->end_ns - thread.since_ns),
          Switches(thread.times)};
      thread.has_own_count = true;
    }
    thread.cpu_time_read.reset();
    return;
  }
  const uint64_t since_ns =
      thread.state == State::kOnCpu ? thread.since_ns : time_ns;
  const uint64_t doubt_ns =
      read->end_ns > since_ns ? read->end_ns - since_ns : 0;
  if (!is_unknown && thread.since_ns <= read->begin_ns &&
      doubt_ns <= kMostDoubtNs) {
    thread.last_hidden = {read->on_cpu_ns - thread.times.on_cpu_ns,
                          Switches(thread.times)};
    if (!thread.first_hidden) thread.first_hidden = thread.last_hidden;
  }
  thread.cpu_time_read.reset();
}

// Whether a thread that seemed to run, and of which no record told, waited for
// a CPU all the time.
bool ThreadClock::NeverHadACpu(const LiveThread& thread, uint64_t time_ns) {
  return thread.is_guess && thread.state == State::kOnCpu && thread.cpu_ns &&
         thread.cpu_ns == thread.cpu_before_ns &&
         time_ns >= thread.since_ns + kTwoTicksNs;
}

// What the kernel counted between the two reads, and as much for each of the
// other switches, on average. Few switches say little: some time may be of
// something else.
DurationNs ThreadClock::HiddenNs(const LiveThread& thread) {
  // The kernel has counted the time that is unknown, too.
  if (!thread.first_hidden || thread.times.unknown_ns != 0) return 0;
  const auto& [first_ns, first_switches] = *thread.first_hidden;
  const auto& [last_ns, last_switches] = thread.last_hidden;
  if (last_ns <= first_ns || last_switches <= first_switches) return 0;
  const auto read_ns = static_cast<uint64_t>(last_ns - first_ns);
  const uint64_t read_switches = last_switches - first_switches;
  const uint64_t each_ns = std::min(read_ns / read_switches, kMostHiddenNs);
  const uint64_t others = Switches(thread.times) - read_switches;
  return static_cast<DurationNs>(read_ns + others * each_ns);
}

void ThreadClock::List(uint32_t tid, LiveThread& thread) {
  if (thread.state != State::kBlocked || thread.is_listed) return;
  thread.is_listed = true;
  blocked_.push_back(tid);
}

bool ThreadClock::IsLate(uint64_t time_ns) {
  if (time_ns < newest_ns_) return true;
  newest_ns_ = time_ns;
  return false;
}

bool ThreadClock::OnFork(uint32_t pid, uint32_t tid, uint64_t time_ns) {
  const auto found = live_.find(tid);
  if (IsLate(time_ns) && found != live_.end()) return true;
  // It began after the recording, but was there when that looked for threads.
  if (found != live_.end() && found->second.is_guess) live_.erase(found);
  // Its end was lost, and its number came again.
  OnEndLost(tid);
  OnExit(tid, time_ns);
  if (!Start(pid, tid, time_ns, State::kRunnable)) {
    ++threads_not_timed_;
    return false;
  }
  live_[tid].first_hidden = HiddenCpuTime{};  // the kernel counts from here
  return true;
}

bool ThreadClock::OnExisting(uint32_t pid, uint32_t tid, uint64_t time_ns,
                             bool seems_to_run) {
  if (!Start(pid, tid, time_ns,
             seems_to_run ? State::kOnCpu : State::kBlocked)) {
    ++threads_not_timed_;
    return false;
  }
  live_[tid].is_guess = true;
  return true;
}

bool ThreadClock::OnExec(uint32_t pid, uint32_t tid, uint64_t time_ns) {
  bool has_others = false;
  for (const ThreadKey& other : LiveThreads()) {
    if (other.pid != pid || other.tid == tid) continue;
    OnExit(other.tid, time_ns);
    has_others = true;
  }
  // The kernel ends all threads but the one that called exec. If any was left,
  // it was that one.
  if (has_others) OnExit(tid, time_ns);
  return !live_.contains(tid) && Start(pid, tid, time_ns, State::kOnCpu);
}

void ThreadClock::OnRunQueueBefore(uint32_t tid, DurationNs waited_ns) {
  const auto found = live_.find(tid);
  if (found != live_.end()) found->second.run_queue_before_ns = waited_ns;
}

void ThreadClock::OnCpuTimeBefore(uint32_t tid, DurationNs on_cpu_ns) {
  const auto found = live_.find(tid);
  if (found != live_.end()) found->second.cpu_before_ns = on_cpu_ns;
}

void ThreadClock::OnCounts(uint32_t tid, const model::ThreadCounts& counts) {
  const auto found = live_.find(tid);
  if (found == live_.end()) return;
  // A file that cannot be read any more leaves what it said before.
  model::ThreadCounts now = Since(found->second.counts_before, counts);
  const model::ThreadCounts& last = found->second.times.counts;
  if (!now.has_faults) {
    now.has_faults = last.has_faults;
    now.minor_faults = last.minor_faults;
    now.major_faults = last.major_faults;
  }
  if (!now.has_io) {
    const model::ThreadCounts faults = now;
    now = last;
    now.has_faults = faults.has_faults;
    now.minor_faults = faults.minor_faults;
    now.major_faults = faults.major_faults;
  }
  found->second.times.counts = now;
}

void ThreadClock::OnCountsBefore(uint32_t tid,
                                 const model::ThreadCounts& counts) {
  const auto found = live_.find(tid);
  if (found != live_.end()) found->second.counts_before = counts;
}

void ThreadClock::OnExit(uint32_t tid, uint64_t time_ns) {
  const auto found = live_.find(tid);
  if (IsLate(time_ns) && found != live_.end() &&
      time_ns < found->second.since_ns) {
    return;  // of an earlier thread with that number
  }
  if (found == live_.end()) return;
  LiveThread& thread = found->second;
  NoteRunQueue(thread, time_ns);
  Finish(tid, thread, time_ns, StateEnd::kRecord);
  live_.erase(found);
}

void ThreadClock::OnSwitch(const sampling::SwitchRecord& record) {
  const State next = !record.is_out       ? State::kOnCpu
                     : record.is_runnable ? State::kRunnable
                                          : State::kBlocked;
  // The records of two CPUs may come in the wrong order if a ring was full.
  const bool is_late = IsLate(record.time_ns);
  const auto found = live_.find(record.tid);
  if (found == live_.end()) {
    // Its beginning was lost; or it has ended, and the record is late.
    if (!is_late) Start(record.pid, record.tid, record.time_ns, next);
    return;
  }
  LiveThread& thread = found->second;
  if (std::exchange(thread.is_guess, false)) {
    if (record.is_out) {
      thread.state = State::kOnCpu;
    } else if (thread.state == State::kOnCpu) {
      thread.state = State::kRunnable;  // it waited for a CPU
    }
  }
  if (record.time_ns < thread.since_ns) {
    thread.is_doubtful = true;
  } else {
    const bool was_on_cpu = thread.state == State::kOnCpu;
    Enter(record.tid, thread, record.time_ns, next,
          was_on_cpu == record.is_out ? StateEnd::kRecord
                                      : StateEnd::kContradiction);
  }
  thread.is_due = true;
  if (!record.is_out) return;
  if (record.is_runnable) {
    ++thread.times.involuntary_switches;
  } else {
    ++thread.times.voluntary_switches;
  }
}

void ThreadClock::OnLost(uint64_t time_ns) {
  lost_ns_ = std::max(lost_ns_, time_ns);
}

void ThreadClock::OnEndLost(uint32_t tid) {
  const auto found = live_.find(tid);
  if (found == live_.end()) return;
  LiveThread& thread = found->second;
  // Without any record, and none lost, it was on its way out at the start.
  if (thread.is_guess && thread.since_ns >= lost_ns_) {
    live_.erase(found);
  } else {
    thread.is_doubtful = true;
  }
}

std::optional<ThreadClock::DueThread> ThreadClock::NextToRead(uint64_t now_ns) {
  const uint64_t period_ns = std::clamp(live_.size() * kPeriodOfEachNs,
                                        kLeastReadPeriodNs, kReadPeriodNs);
  for (int looks = 0; looks < kMostLooks && !turns_.empty(); ++looks) {
    const uint32_t tid = turns_.front();
    turns_.pop_front();
    const auto found = live_.find(tid);
    if (found == live_.end()) continue;
    turns_.push_back(tid);
    LiveThread& thread = found->second;
    if (!thread.is_due || now_ns < thread.last_read_ns + period_ns) continue;
    thread.is_due = false;
    thread.last_read_ns = now_ns;
    const bool counts_are_due = now_ns >= thread.last_counts_ns + kReadPeriodNs;
    if (counts_are_due) thread.last_counts_ns = now_ns;
    return DueThread{{thread.pid, tid}, counts_are_due};
  }
  return std::nullopt;
}

void ThreadClock::OnRunQueue(uint32_t tid, DurationNs waited_ns,
                             uint64_t time_ns) {
  const auto found = live_.find(tid);
  if (found == live_.end()) return;
  found->second.run_queue_ns =
      std::max<DurationNs>(waited_ns - found->second.run_queue_before_ns, 0);
  found->second.run_queue_read_ns = time_ns;
  found->second.runnable_since_read_ns = 0;
  found->second.is_read_at_end = false;
  found->second.times.run_queue = RunQueueTime::kLastKnown;
}

void ThreadClock::OnCpuTime(uint32_t tid, DurationNs on_cpu_ns,
                            uint64_t begin_ns, uint64_t end_ns) {
  const auto found = live_.find(tid);
  if (found == live_.end()) return;
  found->second.cpu_ns = on_cpu_ns;
  std::optional<CpuTimeRead>& read = found->second.cpu_time_read;
  if (read && read->is_own) return;  // the records have not come to it yet
  read = {on_cpu_ns, begin_ns, end_ns};
}

void ThreadClock::OnLastCounts(uint32_t tid, DurationNs on_cpu_ns,
                               DurationNs waited_ns,
                               const model::ThreadCounts& counts,
                               uint64_t time_ns) {
  const auto found = live_.find(tid);
  if (found == live_.end() ||
      time_ns < static_cast<uint64_t>(found->second.times.begin_ns)) {
    return;  // of an earlier thread with that number
  }
  OnRunQueue(tid, waited_ns, time_ns);
  OnCounts(tid, counts);
  found->second.is_read_at_end = true;
  found->second.cpu_time_read = {on_cpu_ns, time_ns, time_ns, true};
  found->second.last_count = {on_cpu_ns, time_ns, time_ns, true};
}

std::optional<BlockedThread> ThreadClock::NextBlocked(uint64_t latest_ns) {
  for (size_t left = std::min(blocked_.size(), kMostBlockedLooks); left > 0;
       --left) {
    const uint32_t tid = blocked_.front();
    blocked_.pop_front();
    const auto found = live_.find(tid);
    if (found == live_.end()) continue;
    LiveThread& thread = found->second;
    if (thread.state == State::kBlocked && thread.since_ns > latest_ns) {
      blocked_.push_back(tid);
      continue;
    }
    thread.is_listed = false;
    if (thread.state != State::kBlocked) continue;
    return BlockedThread{{thread.pid, tid}, thread.since_ns};
  }
  return std::nullopt;
}

std::optional<uint64_t> ThreadClock::BlockedSince(uint32_t tid) const {
  const auto thread = live_.find(tid);
  if (thread == live_.end() || thread->second.state != State::kBlocked) {
    return std::nullopt;
  }
  return thread->second.since_ns;
}

std::vector<ThreadKey> ThreadClock::LiveThreads() const {
  std::vector<ThreadKey> threads;
  for (const auto& [tid, thread] : live_) threads.push_back({thread.pid, tid});
  return threads;
}

// Before a thread's last time counts: whether all of its waiting was read.
void ThreadClock::NoteRunQueue(LiveThread& thread, uint64_t time_ns) const {
  if (thread.run_queue_ns &&
      (thread.run_queue_read_ns >= time_ns || thread.is_read_at_end) &&
      thread.times.unknown_ns == 0 && !IsUnknown(thread)) {
    thread.times.run_queue = RunQueueTime::kWhole;
  }
}

// Where records were lost, the kernel's counts of the whole life say how much
// of the unknown time the thread was on a CPU, or waited for one.
void ThreadClock::TakeKernelsTotals(LiveThread& thread) {
  ThreadTimes& times = thread.times;
  const bool counts_from_begin = thread.first_hidden &&
                                 thread.first_hidden->ns == 0 &&
                                 thread.first_hidden->switches == 0;
  if (times.unknown_ns == 0 || !thread.last_count || !thread.run_queue_ns ||
      !counts_from_begin || times.open_wait_ns != 0) {
    return;
  }
  const CpuTimeRead& count = *thread.last_count;
  const DurationNs rest_ns = std::max<DurationNs>(
      times.end_ns - static_cast<DurationNs>(count.end_ns), 0);
  times.on_cpu_ns = std::min(count.on_cpu_ns + rest_ns, times.wall_ns);
  times.runnable_ns =
      std::min(*thread.run_queue_ns + thread.runnable_since_read_ns,
               times.wall_ns - times.on_cpu_ns);
  times.unknown_ns = 0;
  if (thread.is_read_at_end) times.run_queue = RunQueueTime::kWhole;
}

void ThreadClock::Finish(uint32_t tid, LiveThread& thread, uint64_t time_ns,
                         StateEnd end) {
  Enter(tid, thread, time_ns, thread.state, end);
  ThreadTimes& times = thread.times;
  times.end_ns = static_cast<TimeNs>(thread.since_ns);
  // The records tell of preemptions only, schedstat of all waits that ended
  // before it was read.
  const DurationNs off_cpu_ns =
      times.wall_ns - times.on_cpu_ns - times.unknown_ns - times.open_wait_ns;
  // At most the unknown time was spent in the run queue unseen.
  const DurationNs waited_ns = thread.run_queue_ns.value_or(0) +
                               thread.runnable_since_read_ns - times.unknown_ns;
  times.runnable_ns =
      std::min(off_cpu_ns, std::max(times.runnable_ns, waited_ns));
  const DurationNs hidden_ns = std::min(
      HiddenNs(thread),
      thread.has_own_count ? off_cpu_ns : off_cpu_ns - times.runnable_ns);
  times.on_cpu_ns += hidden_ns;
  times.runnable_ns = std::min(times.runnable_ns, off_cpu_ns - hidden_ns);
  TakeKernelsTotals(thread);
  const auto [at, is_new] = ended_.try_emplace({thread.pid, tid}, times);
  if (!is_new) at->second += times;
}

void ThreadClock::End(uint64_t time_ns) {
  for (auto& [tid, thread] : live_) {
    if (NeverHadACpu(thread, time_ns)) thread.state = State::kRunnable;
    if (thread.state == State::kBlocked && !IsUnknown(thread) &&
        time_ns > thread.since_ns) {
      thread.times.open_wait_ns =
          static_cast<DurationNs>(time_ns - thread.since_ns);
    }
    NoteRunQueue(thread, time_ns);
    Finish(tid, thread, time_ns, StateEnd::kRecordingEnd);
  }
  live_.clear();
}

}  // namespace kymo::off_cpu
