// process_clocks.h - the CPU time that other processes use.
//
//   ProcessClocks clocks;
//   clocks.AddRunning(pid);   // counts from now on
//   clocks.AddNew(child);     // counts from its beginning
//   clocks.Read();            // now and then, and at the end
//   Use(clocks.total_ns());
//
// The kernel's clock of a process has all its threads, also those that ended.
// Everybody may read it. A process that ends has the time of its last reading.
//
// Threads: one.
#ifndef KYMO_PROFILER_PROCESSES_PROCESS_CLOCKS_H_
#define KYMO_PROFILER_PROCESSES_PROCESS_CLOCKS_H_

#include <sys/types.h>

#include <map>

#include "profiler/base/time.h"

namespace kymo::processes {

class ProcessClocks {
 public:
  // A process counts once, however often it is added.
  void AddRunning(pid_t pid);
  void AddNew(pid_t pid);
  // The process has ended, and another one may get its number. Its time stays.
  void Forget(pid_t pid);

  void Read();
  void Read(pid_t pid);
  DurationNs total_ns() const noexcept { return total_ns_; }

 private:
  std::map<pid_t, DurationNs> read_ns_;  // what a process is known to have used
  DurationNs total_ns_ = 0;
};

}  // namespace kymo::processes

#endif  // KYMO_PROFILER_PROCESSES_PROCESS_CLOCKS_H_
