// thread_status.h - what /proc tells of the threads of a process.
//
//   for (const int64_t tid : ThreadsOf(pid)) {
//     if (const auto status = ReadThreadStatus(pid, tid)) Use(status->name);
//   }
//
// Threads: any.
#ifndef KYMO_BACKENDS_OFF_CPU_THREAD_STATUS_H_
#define KYMO_BACKENDS_OFF_CPU_THREAD_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::off_cpu {

struct ThreadStatus {
  std::string name;
  bool has_ended = false;   // nobody has waited for it yet
  bool is_running = false;  // or waits for a CPU only
  uint64_t voluntary_switches = 0;
  uint64_t involuntary_switches = 0;
};

// Of /proc/PID/task/TID/status. Nothing if a field is missing.
std::optional<ThreadStatus> ParseThreadStatus(std::string_view text);
std::optional<ThreadStatus> ReadThreadStatus(int64_t pid, int64_t tid);

// Empty if the process has ended.
std::vector<int64_t> ThreadsOf(int64_t pid);
// The processes that the thread has started, and that live. Empty on kernels
// without CONFIG_PROC_CHILDREN.
std::vector<int64_t> ChildrenOf(int64_t pid, int64_t tid);

// How many CPUs the process may use; 0: the kernel does not say.
uint32_t CpuCount(int64_t pid);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_THREAD_STATUS_H_
