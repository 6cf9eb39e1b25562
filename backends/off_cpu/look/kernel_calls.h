// kernel_calls.h - tells from the kernel's stack of a blocked thread what it
// does.
//
//   KernelCalls calls;
//   const KernelCall call = calls.Find(sample_frames);
//   if (call.is_stopped) ...
//
// The kernel's own functions are mostly known from a copy (kernel_symbols.h).
// The first address in a module makes it read /proc/kallsyms: that takes 0.1 s.
//
// Threads: none.
#ifndef KYMO_BACKENDS_OFF_CPU_LOOK_KERNEL_CALLS_H_
#define KYMO_BACKENDS_OFF_CPU_LOOK_KERNEL_CALLS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "profiler/symbolize/kernel/kernel_symbols.h"

namespace kymo::off_cpu {

struct KernelCall {
  // Of the system call, as in BlockedCall. -1: the thread came into the kernel
  // by a page fault. Nothing: no frame tells.
  std::optional<int64_t> number;
  bool is_stopped = false;
  // It waits for a lock that the kernel needs for itself, such as that of the
  // process's mappings, whatever the call is.
  bool is_kernel_lock = false;
  // It reads or writes a pipe, whatever its descriptor was.
  bool is_pipe = false;
};

// What a kernel function says of the thread that is in it, if anything.
std::optional<KernelCall> CallOfFunction(std::string_view function);

// The number of the call that restart_syscall(2) goes on with, by the kernel's
// function that waits (wchan). The kernel does so with sleeps, poll and futex,
// and hides the functions of sleeps. The arguments are still those of the call.
int64_t RestartedCall(std::string_view function);

class KernelCalls {
 public:
  KernelCalls();
  explicit KernelCalls(std::shared_ptr<const symbolize::KernelSymbols> symbols);

  // The innermost frame that says anything counts, and any that says that it is
  // a pipe. `frames`: leaf first, return addresses but for the first.
  KernelCall Find(std::span<const uint64_t> frames);

 private:
  std::shared_ptr<const symbolize::KernelSymbols> symbols_;
  bool has_modules_;  // symbols_ is all that can be known
  // By address; few code places ever switch threads.
  absl::flat_hash_map<uint64_t, std::optional<KernelCall>> known_;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_LOOK_KERNEL_CALLS_H_
