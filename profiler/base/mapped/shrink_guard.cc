#include "profiler/base/mapped/shrink_guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <utility>

namespace kymo {
namespace {

struct Guarded {
  std::atomic<bool> taken;
  // Odd while a guard is in force; each guard has another number. `begin` and
  // `end` change only while it is even.
  std::atomic<uint64_t> guard;
  std::atomic<uintptr_t> begin;
  std::atomic<uintptr_t> end;
};

constinit Guarded guarded[ShrinkGuard::kMostGuards] = {};
struct sigaction previous_action;
const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));

// Puts zeros where the file has ended. False if no guard has the address.
bool PutZeros(uintptr_t address) {
  for (const Guarded& g : guarded) {
    const uint64_t guard = g.guard.load(std::memory_order_acquire);
    const uintptr_t begin = g.begin.load(std::memory_order_acquire);
    const uintptr_t end = g.end.load(std::memory_order_acquire);
    // The guard of `address` stays while the access waits. So a guard that
    // another thread replaces meanwhile is not the one.
    if (guard % 2 == 0 || g.guard.load(std::memory_order_relaxed) != guard ||
        address < begin || address >= end) {
      continue;
    }
    const uintptr_t page = address / page_bytes * page_bytes;
    return mmap(reinterpret_cast<void*>(page), end - page,
                PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
                0) != MAP_FAILED;
  }
  return false;
}

void CallPreviousHandler(int signal, siginfo_t* info, void* context) {
  const auto handler = previous_action.sa_handler;
  if (handler == SIG_DFL || handler == SIG_IGN) {
    // The access is repeated, and ends the process.
    sigaction(signal, &previous_action, nullptr);
  } else if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal, info, context);
  } else {
    handler(signal);
  }
}

void OnBusError(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (!PutZeros(reinterpret_cast<uintptr_t>(info->si_addr))) {
    CallPreviousHandler(signal, info, context);
  }
  errno = saved_errno;
}

void SetHandler() {
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  struct sigaction before = {};
  sigaction(SIGBUS, &action, &before);
  // Of threads that come here at the same time, one gets the program's.
  if (before.sa_sigaction != OnBusError) previous_action = before;
}

}  // namespace

ShrinkGuard::ShrinkGuard(const void* memory, uint64_t bytes) {
  // No thread waits for another one that sets it: see
  // profiler/library/first_use_test.sh.
  static constinit std::atomic<bool> is_set = false;
  if (!is_set.load()) {
    SetHandler();
    is_set = true;
  }
  for (size_t i = 0; i < kMostGuards; ++i) {
    Guarded& g = guarded[i];
    if (g.taken.exchange(true, std::memory_order_acquire)) continue;
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    g.begin.store(begin, std::memory_order_release);
    g.end.store(begin + bytes, std::memory_order_release);
    g.guard.fetch_add(1, std::memory_order_release);
    entry_ = i;
    return;
  }
}

ShrinkGuard::ShrinkGuard(ShrinkGuard&& other) noexcept
    : entry_(std::exchange(other.entry_, kMostGuards)) {}

ShrinkGuard& ShrinkGuard::operator=(ShrinkGuard&& other) noexcept {
  std::swap(entry_, other.entry_);
  return *this;
}

ShrinkGuard::~ShrinkGuard() {
  if (entry_ == kMostGuards) return;
  guarded[entry_].guard.fetch_add(1, std::memory_order_relaxed);
  guarded[entry_].taken.store(false, std::memory_order_release);
}

}  // namespace kymo
