// process_tree.h - the counters of a process and of the processes it started.
//
//   ProcessTree tree("/proc", pid, /*is_new=*/false, /*max_processes=*/64);
//   tree.Read(now_ns, reader, log);      // every so often
//
// Each process has counters of its own. A process that began and ended between
// two readings is not seen. Processes whose parent has ended stay; what they
// start is found, too.
//
// Threads: one at a time.
#ifndef KYMO_BACKENDS_HOST_PROCESS_TREE_H_
#define KYMO_BACKENDS_HOST_PROCESS_TREE_H_

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>

#include "backends/host/counter_log.h"
#include "backends/host/file_reader.h"
#include "backends/host/process_counters.h"
#include "profiler/base/time.h"

namespace kymo::host {

class ProcessTree {
 public:
  // `is_new`: of the root, as in process_counters.h. Reads at most
  // `max_processes` at a time, 1 or more.
  ProcessTree(std::string proc, pid_t root, bool is_new, size_t max_processes);

  void Read(TimeNs now_ns, FileReader& reader, CounterLog& log);

  // Nothing is read from `now_ns` on: CPU use and rates are 0 then.
  void Pause(TimeNs now_ns, CounterLog& log);

  // Whether there were more processes than the limit.
  bool left_out_any() const noexcept { return left_out_any_; }

 private:
  const std::string proc_;
  const pid_t root_;
  const size_t max_processes_;
  bool left_out_any_ = false;
  std::map<pid_t, ProcessCounters> processes_;
};

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_PROCESS_TREE_H_
