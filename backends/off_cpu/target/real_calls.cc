#include "backends/off_cpu/target/real_calls.h"

#include <dlfcn.h>
#include <errno.h>

namespace kymo::off_cpu {
namespace {

template <typename Function>
void Set(Function& function, const char* name) noexcept {
  // Of conditions, libc has two versions. Without a version, this finds the
  // newest, which all programs for x86-64 use.
  void* const found = dlsym(RTLD_NEXT, name);
  // Threads that get here at the same time store the same value.
  __atomic_store_n(&function, reinterpret_cast<Function>(found),
                   __ATOMIC_RELAXED);
}

}  // namespace

constinit RealCalls real = {};

void FindRealCalls() noexcept {
  const int saved_errno = errno;
#define X(name) Set(real.name, #name);
  KYMO_REAL_CALLS(X);
  X(open);
  X(open64);
  X(openat);
  X(openat64);
  X(fcntl);
  X(fcntl64);
  X(prctl);
  X(syscall);
#undef X
  errno = saved_errno;
}

}  // namespace kymo::off_cpu
