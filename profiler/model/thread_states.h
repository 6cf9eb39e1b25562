// thread_states.h - how long each thread of a trace ran, and how long it
// waited.
//
//   if (const ThreadStates* states = trace.thread_states()) {
//     for (const ThreadTimes& t : states->threads) Print(t.blocked_ns());
//   }
//
// The words are the kernel's. A thread is on a CPU, runnable (it could run, but
// no CPU is free) or blocked (it waits for something else: a lock, a disk, a
// peer, the end of a sleep). The states add up to the thread's life:
//
//   wall = on CPU + runnable + blocked + unknown
//
// A time is unknown only where records of switches were lost.
//
// Units: nanoseconds. Threads: values.
#ifndef KYMO_PROFILER_MODEL_THREAD_STATES_H_
#define KYMO_PROFILER_MODEL_THREAD_STATES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/waits.h"

namespace kymo::model {

// How much of a thread's waiting for a CPU counts as runnable. The kernel's
// records of switches say how long a thread waited after it was preempted. Only
// /proc/PID/task/TID/schedstat says how long it waited after it was woken. That
// file goes with the thread. What is missing counts as blocked.
enum class RunQueueTime : uint8_t {
  kPreemptions,  // schedstat was never read
  kLastKnown,    // until schedstat was last read
  kWhole,
};
inline constexpr RunQueueTime kLastRunQueueTime = RunQueueTime::kWhole;

// As in tables and files, by RunQueueTime.
inline constexpr std::string_view kRunQueueNames[] = {"preemptions",
                                                      "last known", "whole"};
inline std::string_view NameOf(RunQueueTime run_queue) {
  return kRunQueueNames[static_cast<size_t>(run_queue)];
}

// What the kernel counted for a thread within the recording, up to when its
// run queue was last read (RunQueueTime).
struct ThreadCounts {
  bool has_faults = false;    // the next two are known
  uint64_t minor_faults = 0;  // the page was in memory
  uint64_t major_faults = 0;  // it had to be read from a disk
  bool has_io = false;        // all others are known
  // Calls like read(2) and write(2) of files, pipes, sockets and others, and
  // what they moved. recv(2), send(2) and mapped files are not in it.
  uint64_t read_calls = 0;
  uint64_t read_bytes = 0;
  uint64_t write_calls = 0;
  uint64_t written_bytes = 0;
  // What was read from disks, and what is to be written there.
  uint64_t disk_read_bytes = 0;
  uint64_t disk_written_bytes = 0;

  ThreadCounts& operator+=(const ThreadCounts& other) {
    has_faults |= other.has_faults;
    minor_faults += other.minor_faults;
    major_faults += other.major_faults;
    has_io |= other.has_io;
    read_calls += other.read_calls;
    read_bytes += other.read_bytes;
    write_calls += other.write_calls;
    written_bytes += other.written_bytes;
    disk_read_bytes += other.disk_read_bytes;
    disk_written_bytes += other.disk_written_bytes;
    return *this;
  }
  friend bool operator==(const ThreadCounts&, const ThreadCounts&) = default;
};

// One thread of a trace.
struct ThreadTimes {
  TrackIndex track = 0;
  DurationNs wall_ns = 0;  // the thread's life within the recording
  DurationNs on_cpu_ns = 0;
  DurationNs runnable_ns = 0;
  DurationNs unknown_ns = 0;
  // The thread still waited at the end of the recording, for so long. Part of
  // the blocked time. 0: it did not.
  DurationNs open_wait_ns = 0;
  uint64_t voluntary_switches = 0;    // it blocked
  uint64_t involuntary_switches = 0;  // it was preempted, or yielded its CPU
  RunQueueTime run_queue = RunQueueTime::kPreemptions;
  ThreadCounts counts;
  // The thread's life within the recording. 0: not known.
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
  // The thread that made this one within the recording. kNoTrack: not known.
  TrackIndex creator = kNoTrack;

  DurationNs blocked_ns() const {
    return wall_ns - on_cpu_ns - runnable_ns - unknown_ns;
  }

  // Adds the times of another life of the thread, or of another thread.
  ThreadTimes& operator+=(const ThreadTimes& other) {
    if (begin_ns == 0 || (other.begin_ns != 0 && other.begin_ns < begin_ns)) {
      begin_ns = other.begin_ns;
      creator = other.creator;
    }
    end_ns = std::max(end_ns, other.end_ns);
    wall_ns += other.wall_ns;
    on_cpu_ns += other.on_cpu_ns;
    runnable_ns += other.runnable_ns;
    unknown_ns += other.unknown_ns;
    open_wait_ns += other.open_wait_ns;
    voluntary_switches += other.voluntary_switches;
    involuntary_switches += other.involuntary_switches;
    run_queue = std::min(run_queue, other.run_queue);
    counts += other.counts;
    return *this;
  }
  friend bool operator==(const ThreadTimes&, const ThreadTimes&) = default;
};

// The limit of CPU time of the program's control group (cgroup), such as a
// container's. In each period, the threads of the group may use the quota on
// all CPUs together. Then the kernel stops (throttles) them until the next one.
struct CpuLimit {
  DurationNs quota_ns = 0;  // 0: no limit, or none that could be read
  DurationNs period_ns = 0;
  // Within the recording, of the whole group, so of other programs in it, too.
  uint64_t periods = 0;            // in which the group's threads wanted to run
  uint64_t throttled_periods = 0;  // in which threads were stopped
  // No wall time: the sum over the CPUs. Two CPUs on which threads are stopped
  // for a second are two seconds, however many threads these are.
  DurationNs throttled_ns = 0;

  // How many CPUs the quota is. REQUIRES: there is a limit.
  double cpus() const {
    return static_cast<double>(quota_ns) / static_cast<double>(period_ns);
  }
  // Whether there is a limit, and its numbers fit together.
  bool is_possible() const {
    constexpr uint64_t kMostPeriods = uint64_t{1} << 48;
    return quota_ns > 0 && period_ns > 0 && periods < kMostPeriods &&
           throttled_periods <= periods && throttled_ns >= 0;
  }
  friend bool operator==(const CpuLimit&, const CpuLimit&) = default;
};

struct ThreadStates {
  uint32_t cpu_count = 0;  // that the program might use; 0 = not known
  CpuLimit cpu_limit;
  // The CPU time of Kymo itself in the recording, which no thread below has. 0:
  // not known.
  DurationNs kymo_cpu_ns = 0;
  std::vector<ThreadTimes> threads;  // by track, at most one of each

  // See waits.h. Empty: only the sums above were recorded.
  DurationNs min_wait_ns = 0;        // shorter waits are summed
  std::vector<Wait> waits;           // by track, then by begin
  std::vector<WaitSum> short_waits;  // by track

  // How much CPU time the program could use in a second: all CPUs, or what the
  // limit leaves of them. 0: not known.
  double usable_cpus() const {
    return cpu_limit.quota_ns == 0
               ? cpu_count
               : std::min<double>(cpu_count, cpu_limit.cpus());
  }

  // REQUIRES: there are threads. The sum has the first one's track.
  ThreadTimes Sum() const {
    ThreadTimes sum = threads.front();
    for (size_t i = 1; i < threads.size(); ++i) sum += threads[i];
    return sum;
  }
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_THREAD_STATES_H_
