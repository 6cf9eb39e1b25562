// process_list.h - the processes and threads that run, as /proc tells.
//
//   const std::vector<ProcessInfo> all = ListProcesses();
//   for (const ProcessInfo& process : TreeOf(all, {1234}, getpid())) {
//     for (const pid_t tid : ThreadsOf(process.pid)) Use(tid);
//   }
//
// Numbers are those of the caller's namespace of process ids. `proc` is another
// folder in tests.
//
// Threads: any.
#ifndef KYMO_PROFILER_PROCESSES_PROCESS_LIST_H_
#define KYMO_PROFILER_PROCESSES_PROCESS_LIST_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::processes {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;  // of the main thread: at most 15 bytes
  char state = ' ';  // as in proc(5)
  bool is_kernel_thread = false;
  int64_t thread_count = 0;
  // Tells two processes apart that had the same number one after the other.
  uint64_t start_ticks = 0;

  // Its parent has not waited for it yet. If only the main thread has ended,
  // the state says so, too, but there are other threads.
  bool has_ended() const {
    return (state == 'Z' || state == 'X') && thread_count <= 1;
  }
};

// The entries of a folder that are numbers, sorted: in proc(5), processes,
// threads or descriptors. Empty if it cannot be read.
std::vector<int> NumbersIn(const std::string& folder);

// Of /proc/PID/stat. Nothing if a field is missing.
std::optional<ProcessInfo> ParseProcess(std::string_view stat);

// Nothing if there is no such process.
std::optional<ProcessInfo> ReadProcess(pid_t pid,
                                       const std::string& proc = "/proc");

// By number.
std::vector<ProcessInfo> ListProcesses(const std::string& proc = "/proc");

// Those that have begun with the process `first` or after it, and run. Sorted;
// empty if `first` is gone.
std::vector<pid_t> RunningSince(pid_t first, const std::string& proc = "/proc");

// By number; empty if the process is gone.
std::vector<pid_t> ThreadsOf(pid_t pid, const std::string& proc = "/proc");

// The name of a thread; empty if it is gone.
std::string NameOf(pid_t pid, pid_t tid, const std::string& proc = "/proc");

// The number that a thread sees as its own, which differs in a container. 0: it
// is gone.
pid_t InnerNumberOf(pid_t pid, pid_t tid, const std::string& proc = "/proc");

// The real user of a process.
std::optional<uid_t> UserOf(pid_t pid, const std::string& proc = "/proc");

// The processes of `all` that are `roots` or that these started, without
// `left_out` and what that started. In the order of `all`.
std::vector<ProcessInfo> TreeOf(std::span<const ProcessInfo> all,
                                std::span<const pid_t> roots, pid_t left_out);

}  // namespace kymo::processes

#endif  // KYMO_PROFILER_PROCESSES_PROCESS_LIST_H_
