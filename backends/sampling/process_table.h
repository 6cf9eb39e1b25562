// process_table.h - the processes and threads of a recording, by name.
//
// The table is filled in the order of time, from the kernel's records or from
// the samples of timers. Processes keep their names after their end.
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_PROCESS_TABLE_H_
#define KYMO_BACKENDS_SAMPLING_PROCESS_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/address_space.h"

namespace kymo::sampling {

struct PythonState;

struct SampledProcess {
  int64_t parent_pid = 0;
  std::string name;
  std::string command_line;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  // Their numbers, so that a record that is missing, or there twice, leaves the
  // others as they are.
  std::set<int64_t> live_threads;
  symbolize::AddressSpace space;
  // Of JitNames: the program, and the one of the process that it was forked out
  // of; 0: none.
  uint32_t jit_program = 0;
  uint32_t jit_parent = 0;
  // By number: whether the space has the code of the file (sample_ring.h).
  std::vector<bool> files;
  // When /proc/<pid>/maps was last read, CLOCK_MONOTONIC; 0 = never.
  int64_t maps_read_ns = 0;
  // Of the interpreter that it runs, if it does (python/python_stacks.h).
  std::shared_ptr<PythonState> python;
  // Tells programs apart where no record tells of an exec (timers).
  int64_t image_ns = 0;
};

struct SampledThread {
  std::string name;  // the kernel's
  // What the program calls it, if it says that elsewhere (Python), and when to
  // look for that again, CLOCK_MONOTONIC; 0 = at once.
  std::string program_name;
  int64_t program_name_due_ns = 0;
  model::TrackIndex track = model::kNoTrack;  // none before the first sample
};

class ProcessTable {
 public:
  using ThreadKey = std::pair<int64_t, int64_t>;  // pid, tid

  // Each is made when it is first asked for, a process with its main thread.
  SampledProcess& Process(int64_t pid);
  // Empty if the process is not known.
  std::string NameOf(int64_t pid) const;
  SampledThread& Thread(int64_t pid, int64_t tid);

  // A new thread (pid == parent_pid), or a new process, which begins as a copy
  // of its parent.
  void OnFork(int64_t pid, int64_t tid, int64_t parent_pid, int64_t parent_tid,
              TimeNs time_ns);
  // A thread ended. The process ends with its last thread: then the result is
  // true.
  bool OnExit(int64_t pid, int64_t tid, TimeNs time_ns);
  // Takes over what a timer's sample says about its process. If the process has
  // become another program, its address space is cleared.
  void OnTimerSample(int64_t pid, int64_t tid, int64_t parent_pid,
                     int64_t image_ns, std::string_view thread_name);
  void OnName(int64_t pid, int64_t tid, std::string_view name, bool is_exec);
  // Whether it is time to look for what the program calls the thread: that is
  // not known, or a second old, since it may change.
  bool IsNameDue(int64_t pid, int64_t tid, int64_t monotonic_ns);
  // The thread is described with this name, with a sample or without.
  void OnProgramName(int64_t pid, int64_t tid, std::string_view name,
                     int64_t monotonic_ns);
  // What was found is another thread's name, and may be so for long: a greenlet
  // may begin as that thread did. It is looked for again after 100 ms.
  void OnOthersName(int64_t pid, int64_t tid, int64_t monotonic_ns);
  // A thread that was there before the recording.
  void OnExisting(int64_t pid, int64_t tid, std::string_view name);

  // The thread's track in the shard, made when it is first asked for.
  model::TrackIndex Track(int64_t pid, int64_t tid);

  // Fills the shard's processes and tracks.
  void Describe(model::TraceShard& shard) const;

 private:
  std::map<int64_t, SampledProcess> processes_;
  std::map<ThreadKey, SampledThread> threads_;
  std::vector<ThreadKey> tracks_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PROCESS_TABLE_H_
