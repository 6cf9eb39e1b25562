// blocked_look.h - looks at a blocked thread from outside.
//
//   BlockedLook look;
//   if (look.Take(pid, tid) == BlockedLook::Result::kSeen) Use(look.call());
//
// The thread is not stopped, gets no signal, and does not notice. The look
// reads its system call and a part of its stack. Before and after, it reads how
// often the thread got a CPU (schedstat): if that is the same, the thread did
// not run in between, and all belongs together.
//
// The kernel permits it where it permits ptrace(2): a user's own processes, and
// with Yama (ptrace_scope 1) only those that this process has started.
//
// Threads: none. About 10 us.
#ifndef KYMO_BACKENDS_OFF_CPU_LOOK_BLOCKED_LOOK_H_
#define KYMO_BACKENDS_OFF_CPU_LOOK_BLOCKED_LOOK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/off_cpu/look/blocked_call.h"

namespace kymo::off_cpu {

class BlockedLook {
 public:
  enum class Result {
    kSeen,
    kRuns,     // it runs, or ran meanwhile, or has ended
    kRefused,  // the kernel does not permit it
  };

  Result Take(int64_t pid, int64_t tid);
  // Whether the thread, of the last look, has got no CPU since.
  bool IsStillTrue(int64_t pid, int64_t tid) const;

  // Of the last look that was kSeen.
  uint64_t time_ns() const noexcept { return time_ns_; }  // CLOCK_MONOTONIC
  // How often the thread had got a CPU by then.
  int64_t times_on_cpu() const noexcept { return times_on_cpu_; }
  const BlockedCall& call() const noexcept { return call_; }
  // The kernel's function that waits, such as "do_signal_stop". Empty: the
  // kernel does not tell.
  std::string_view kernel_function() const noexcept { return function_; }
  // From call().stack_pointer upwards.
  std::span<const std::byte> stack() const noexcept {
    return {stack_.data(), stack_bytes_};
  }
  bool stack_was_cut() const noexcept { return stack_bytes_ == stack_.size(); }

 private:
  void CopyStack(int64_t pid, int64_t tid);

  uint64_t time_ns_ = 0;
  int64_t times_on_cpu_ = 0;
  BlockedCall call_;
  std::string function_;
  std::vector<std::byte> stack_;
  size_t stack_bytes_ = 0;
};

// What a descriptor is.
struct DescriptorInfo {
  std::string link;   // a path, or "socket:[4711]"; empty: it cannot be read
  uint32_t mode = 0;  // S_IFREG, S_IFIFO, ... (inode(7)); 0: not known
  uint64_t inode = 0;
  bool is_closed = false;    // the process lives, and has no such descriptor
  bool is_writable = false;  // of a pipe: which end it is
};

// What the thread is blocked in now. Nothing: it runs, or it has ended.
std::optional<BlockedCall> ReadCall(int64_t pid, int64_t tid);

// Of descriptor `number` of a thread. The main thread of a process may have
// ended; then only others have its descriptors.
DescriptorInfo LookAtDescriptor(int64_t pid, int64_t tid, uint64_t number);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_LOOK_BLOCKED_LOOK_H_
