// process_counters.h - counters of one process, read from /proc/PID.
//
//   ProcessCounters process("/proc", pid, /*is_new=*/false);
//   const auto reading = process.Read(now_ns, reader, log);
//   if (!reading.is_alive) process.End(now_ns, log);
//
// README.md lists the counters. What the user may not read (the files of
// somebody else's process) has no counter.
//
// Cost: about 20 us for each thread and 20 us for the rest (README.md), so the
//   threads of a process that has more than 16 are read once a second.
// Threads: one at a time.
#ifndef KYMO_BACKENDS_HOST_PROCESS_COUNTERS_H_
#define KYMO_BACKENDS_HOST_PROCESS_COUNTERS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/host/counter_log.h"
#include "backends/host/file_reader.h"
#include "backends/host/process_text.h"
#include "profiler/base/time.h"

namespace kymo::host {

// The number of entries of a folder such as /proc/PID/fd; nothing where the
// user may not read it.
std::optional<uint64_t> CountDescriptors(const std::string& folder);

class ProcessCounters {
 public:
  // `is_new`: the process has just been made, and is about to run another
  // program. Its first reading then gives no values: they would be those of the
  // process that made it.
  ProcessCounters(const std::string& proc, pid_t pid, bool is_new);

  struct Reading {
    bool is_alive = false;
    std::vector<pid_t> children;  // as far as its threads were read
  };

  // A process that has the pid of the one of the first call is another one:
  // the process is not alive then.
  Reading Read(TimeNs now_ns, FileReader& reader, CounterLog& log);

  // Nothing is read from `now_ns` on: CPU use and rates are 0 then.
  void Pause(TimeNs now_ns, CounterLog& log);

  // Sets every counter to 0 from `now_ns` on.
  void End(TimeNs now_ns, CounterLog& log);

 private:
  std::vector<pid_t> ReadThreads(TimeNs now_ns, FileReader& reader,
                                 CounterLog& log);

  const pid_t pid_;
  const bool is_new_;
  const std::string folder_;  // "/proc/PID"
  std::string name_;
  uint64_t start_ticks_ = 0;  // of the first reading
  TimeNs threads_read_ns_ = 0;
  // The sums of the threads, those that ended included. A thread's own count
  // vanishes with it.
  std::map<pid_t, Switches> thread_switches_;
  Switches switches_;

  Rate user_, system_, minor_faults_, major_faults_;
  Rate voluntary_, involuntary_, disk_read_, disk_written_;
  Gauge rss_, descriptors_, thread_count_;
};

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_PROCESS_COUNTERS_H_
