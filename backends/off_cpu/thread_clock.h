// thread_clock.h - adds up in which states threads were, from the kernel's
// records of switches.
//
//   ThreadClock clock;
//   clock.OnExec(pid, pid, time_ns);    // each record, in the order of time
//   clock.OnSwitch({.pid = pid, .tid = tid, .is_out = true, ...});
//   while (auto thread = clock.NextToRead(now_ns)) {
//     ... clock.OnRunQueue(thread->tid, waited_ns, now_ns); ...
//   }
//   while (auto thread = clock.NextBlocked(ms_ago)) ...  // why does it wait?
//   clock.End(now_ns);
//   for (const auto& [thread, times] : clock.times()) Use(times);
//
// A switch costs one look into a hash table, and no memory: only sums are kept.
// Whoever wants the single waits gets each when it ends.
// Times are unknown where records are missing: a state that began before
// records were lost, and the time between two records that contradict each
// other, such as a thread that gets a CPU twice. A record that comes too late,
// after newer ones of its thread, says only that the state is not known.
//
// Threads: none. Times of records are CLOCK_MONOTONIC.
#ifndef KYMO_BACKENDS_OFF_CPU_THREAD_CLOCK_H_
#define KYMO_BACKENDS_OFF_CPU_THREAD_CLOCK_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/sampling/perf_records.h"
#include "profiler/base/time.h"
#include "profiler/model/thread_states.h"

namespace kymo::off_cpu {

struct ThreadKey {
  uint32_t pid = 0;
  uint32_t tid = 0;
  friend auto operator<=>(const ThreadKey&, const ThreadKey&) = default;
};

// A time between two CPUs of a thread, or before its first.
struct OffCpuTime {
  ThreadKey thread;
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  bool is_runnable = false;  // it waited for a CPU only
  bool is_open = false;      // it went on when the recording ended
};

// A thread that does not run, as far as the records tell.
struct BlockedThread {
  ThreadKey thread;
  uint64_t since_ns = 0;
};

class ThreadClock {
 public:
  // A thread takes about 700 bytes, with its name.
  static constexpr size_t kMostThreads = 200'000;
  using OnOffCpu = std::function<void(const OffCpuTime&)>;

  // `on_off_cpu` gets each time off a CPU that is not unknown, when it ends.
  explicit ThreadClock(size_t most_threads = kMostThreads,
                       OnOffCpu on_off_cpu = nullptr)
      : most_threads_(most_threads), on_off_cpu_(std::move(on_off_cpu)) {}

  // A thread was made, and waits for its first CPU. False: there are too many
  // threads, and this one is not timed.
  bool OnFork(uint32_t pid, uint32_t tid, uint64_t time_ns);
  // A process became another program: this ends its other threads. True: this
  // begins the times of the thread, for which the kernel has counted before. If
  // another thread called exec, it has the number of the main one from now on,
  // and keeps its counts.
  bool OnExec(uint32_t pid, uint32_t tid, uint64_t time_ns);
  // A thread exists already when the recording begins, and it seems to run, or
  // to be blocked. Its first record may correct that. False: as of OnFork.
  bool OnExisting(uint32_t pid, uint32_t tid, uint64_t time_ns,
                  bool seems_to_run);
  // How long the kernel said then that the thread had waited for a CPU.
  void OnRunQueueBefore(uint32_t tid, DurationNs waited_ns);
  // How long it said then that the thread had been on one. A thread that seems
  // to run may have none: without any record, it is on a CPU if that grows.
  void OnCpuTimeBefore(uint32_t tid, DurationNs on_cpu_ns);
  // What the kernel has counted for the thread, and had counted when its times
  // began.
  void OnCounts(uint32_t tid, const model::ThreadCounts& counts);
  void OnCountsBefore(uint32_t tid, const model::ThreadCounts& counts);
  void OnExit(uint32_t tid, uint64_t time_ns);
  void OnSwitch(const sampling::SwitchRecord& record);
  // Records older than that were lost, of whatever threads.
  void OnLost(uint64_t time_ns);
  // The thread does not exist any more, and no record told of its end. If none
  // told of it at all, it ended when the recording began, and has no times.
  void OnEndLost(uint32_t tid);

  struct DueThread : ThreadKey {
    bool counts_are_due = false;
  };
  // A thread that ran since its time in the run queue was last read, if that is
  // long ago. The caller reads it and calls OnRunQueue, and OnCounts if these
  // are due. Nothing: none is due, or many threads were looked at for nothing.
  std::optional<DueThread> NextToRead(uint64_t now_ns);
  // `waited_ns`: how long the kernel says the thread has waited for a CPU, at
  // that time. A wait that goes on is not in it: the kernel counts it when the
  // thread gets a CPU.
  void OnRunQueue(uint32_t tid, DurationNs waited_ns, uint64_t time_ns);
  // How long the kernel says the thread has been on a CPU, which was read
  // between these two times. A switch takes time between its two records. The
  // kernel counts it for the thread; its records do not show it.
  void OnCpuTime(uint32_t tid, DurationNs on_cpu_ns, uint64_t begin_ns,
                 uint64_t end_ns);

  // The same, as the thread said itself just before its end, or as it was
  // read after that. It was on a CPU then.
  void OnLastCounts(uint32_t tid, DurationNs on_cpu_ns, DurationNs waited_ns,
                    const model::ThreadCounts& counts, uint64_t time_ns);

  // A thread that has been blocked since `latest_ns` or longer, each once after
  // it was blocked. A thread that was blocked later waits for a later call.
  // Nothing: there is no other, or many threads were looked at for nothing.
  std::optional<BlockedThread> NextBlocked(uint64_t latest_ns);

  // Whether the thread is timed, and has not ended.
  bool IsTimed(uint32_t tid) const { return live_.contains(tid); }
  // The process of such a thread; 0: there is none.
  uint32_t PidOf(uint32_t tid) const {
    const auto thread = live_.find(tid);
    return thread == live_.end() ? 0 : thread->second.pid;
  }
  // When such a thread was blocked, if it is.
  std::optional<uint64_t> BlockedSince(uint32_t tid) const;
  // The threads that have not ended.
  std::vector<ThreadKey> LiveThreads() const;

  // Ends the recording. Times in the run queue are whole if they were read at
  // that time.
  void End(uint64_t time_ns);

  // Of the threads that ended, or of all after End. `track` and `creator` are
  // not set. Begins and ends are CLOCK_MONOTONIC.
  const std::map<ThreadKey, model::ThreadTimes>& times() const {
    return ended_;
  }
  uint64_t threads_not_timed() const { return threads_not_timed_; }

 private:
  enum class State : uint8_t { kOnCpu, kRunnable, kBlocked };
  struct CpuTimeRead {
    DurationNs on_cpu_ns = 0;
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
    bool is_own = false;  // the thread ran, and its time is of `end_ns`
  };
  // How much of its time on a CPU the kernel has counted, and the records have
  // not shown, after so many switches.
  struct HiddenCpuTime {
    DurationNs ns = 0;
    uint64_t switches = 0;
  };
  struct LiveThread {
    uint32_t pid = 0;
    State state = State::kOnCpu;
    bool is_doubtful = false;            // records contradict the state
    bool is_guess = false;               // no record has told of the state yet
    bool is_due = true;                  // it ran since its run queue was read
    bool is_listed = false;              // in blocked_
    uint64_t since_ns = 0;               // when the state began
    uint64_t last_read_ns = 0;           // of its time in the run queue
    uint64_t last_counts_ns = 0;         // when its counts were due
    DurationNs run_queue_before_ns = 0;  // not of this life
    std::optional<DurationNs> cpu_before_ns;  // as the kernel counts
    std::optional<DurationNs> cpu_ns;         // the same, as last read
    std::optional<DurationNs> run_queue_ns;
    uint64_t run_queue_read_ns = 0;         // the time of that
    DurationNs runnable_since_read_ns = 0;  // not in it
    // The thread read it itself, and no wait has ended since.
    bool is_read_at_end = false;
    bool has_own_count = false;  // last_hidden is what the thread read itself
    // Until the records have come as far as that.
    std::optional<CpuTimeRead> cpu_time_read;
    std::optional<CpuTimeRead> last_count;  // of OnLastCounts
    std::optional<HiddenCpuTime> first_hidden;
    HiddenCpuTime last_hidden;
    model::ThreadCounts counts_before;  // not of this life
    model::ThreadTimes times;
  };
  using LiveThreadMap = absl::flat_hash_map<uint32_t, LiveThread>;  // by tid

  bool Start(uint32_t pid, uint32_t tid, uint64_t time_ns, State state);
  // Whether nobody knows what the thread did since its state began.
  bool IsUnknown(const LiveThread& thread) const {
    return thread.is_doubtful || thread.since_ns < lost_ns_;
  }
  // Whether a record of that time comes after newer ones.
  bool IsLate(uint64_t time_ns);
  // For NextBlocked, if the thread is blocked.
  void List(uint32_t tid, LiveThread& thread);
  // The records have come to the end of a state.
  static void UseCpuTimeRead(LiveThread& thread, uint64_t time_ns,
                             bool is_unknown);
  static bool NeverHadACpu(const LiveThread& thread, uint64_t time_ns);
  static DurationNs HiddenNs(const LiveThread& thread);
  static void TakeKernelsTotals(LiveThread& thread);
  // What ends a state.
  enum class StateEnd : uint8_t { kRecord, kContradiction, kRecordingEnd };
  // Ends the state of a thread and begins the next one.
  void Enter(uint32_t tid, LiveThread& thread, uint64_t time_ns, State next,
             StateEnd end);
  void NoteRunQueue(LiveThread& thread, uint64_t time_ns) const;
  void Finish(uint32_t tid, LiveThread& thread, uint64_t time_ns, StateEnd end);

  const size_t most_threads_;
  const OnOffCpu on_off_cpu_;
  LiveThreadMap live_;
  uint64_t lost_ns_ = 0;        // no record that was lost is newer
  uint64_t newest_ns_ = 0;      // the time of the newest record
  std::deque<uint32_t> turns_;  // whose run queue to read, may have ended
  // Threads that were blocked since NextBlocked had them; they may have ended.
  std::deque<uint32_t> blocked_;
  std::map<ThreadKey, model::ThreadTimes> ended_;
  uint64_t threads_not_timed_ = 0;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_THREAD_CLOCK_H_
