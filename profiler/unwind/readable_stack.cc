#include "profiler/unwind/readable_stack.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

// Where the first thread's stack began; a variable of the loader.
extern "C" void* __libc_stack_end;

namespace kymo::unwind {

// The limits of a thread's own stack. `top` is written last, so a signal
// handler sees either nothing or everything.
struct OwnStack {
  uint64_t top;      // 0: not known yet
  uint64_t low;      // [low, top) can always be read
  uint64_t foreign;  // a gap is above this: not this stack
};
// initial-exec, because the first access must not allocate.
__attribute__((visibility("hidden"))) constinit thread_local OwnStack own_stack
    __attribute__((tls_model("initial-exec"))) = {};

namespace {

// The smallest page size. If pages are larger, they are checked more than once.
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kMaxOwnGrowthBytes = uint64_t{16} << 20;
constexpr uint64_t kMaxFrameBytes = uint64_t{1} << 20;

uint64_t PageOf(uint64_t address) { return address & ~(kPageBytes - 1); }

void FindOwnTop(OwnStack& own) {
  const bool is_first = syscall(SYS_gettid) == getpid();
  const uint64_t top = is_first ? reinterpret_cast<uint64_t>(__libc_stack_end)
                                : static_cast<uint64_t>(pthread_self());
  own.low = PageOf(top - 1);
  own.foreign = 0;
  std::atomic_signal_fence(std::memory_order_release);
  own.top = top;
}

// Whether `sp` is in the thread's own stack. Then the known part grows to `sp`.
bool IsOwn(OwnStack& own, uint64_t sp) {
  if (own.top == 0) [[unlikely]] {
    FindOwnTop(own);
  }
  if (sp >= own.low) return sp < own.top;
  if (sp < own.foreign || own.low - sp > kMaxOwnGrowthBytes) return false;
  for (uint64_t page = PageOf(sp); page < own.low; page += kPageBytes) {
    if (IsReadable(page)) continue;
    own.foreign = page;
    return false;
  }
  own.low = PageOf(sp);
  return true;
}

}  // namespace

bool IsReadable(uint64_t address) noexcept {
  constexpr int kNoSuchWay = ~0;
  // The system call would take a null pointer as "no set to read".
  if (PageOf(address) == 0) return false;
  const int saved_errno = errno;
  syscall(SYS_rt_sigprocmask, kNoSuchWay, PageOf(address), nullptr,
          sizeof(uint64_t));
  const bool readable = errno != EFAULT;
  errno = saved_errno;
  return readable;
}

void ReadableStack::MoveTo(uint64_t sp) noexcept {
  low_ = sp;
  can_extend_ = !IsOwn(own_stack, sp);
  high_ = can_extend_ ? PageOf(sp) : own_stack.top;
}

bool ReadableStack::Extend(uint64_t address) noexcept {
  if (!can_extend_ || address - high_ > kMaxFrameBytes) return false;
  for (; high_ <= address; high_ += kPageBytes) {
    if (!IsReadable(high_)) {
      can_extend_ = false;
      return false;
    }
  }
  return true;
}

}  // namespace kymo::unwind
