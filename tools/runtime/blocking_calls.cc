// blocking_calls.cc - counts calls of functions that may block, and calls them.
//
// The definitions hand on six integers, whatever a function takes. So arguments
// and results pass through in their registers, also those after "...". A
// definition has a name of its own in C++, since headers declare the function,
// and the function's name for the linker. Aliases hand on seven.
#include "tools/runtime/blocking_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace kymo {
namespace {

// One argument more than fit into registers: aliases may have seven, and a
// caller's stack has something there in any case.
using Function = long (*)(long, long, long, long, long, long, long);

constinit BlockingCallCounts* counts = nullptr;
#define KYMO_ROW(name, counted) #name,
constexpr const char* kAliasNames[] = {KYMO_BLOCKING_ALIASES(KYMO_ROW)};
#undef KYMO_ROW
constexpr size_t kAliasCount = sizeof(kAliasNames) / sizeof(kAliasNames[0]);

// Aliases stand behind the others.
constinit std::atomic<Function> real[kBlockingCallCount + kAliasCount] = {};

Function Real(size_t index) {
  Function function = real[index].load(std::memory_order_relaxed);
  if (function != nullptr) return function;
  const char* const name = index < kBlockingCallCount
                               ? kBlockingCallNames[index]
                               : kAliasNames[index - kBlockingCallCount];
  // Without a version, dlsym finds the oldest condition variables, whose layout
  // is another one.
  void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  function = reinterpret_cast<Function>(found);
  real[index].store(function, std::memory_order_relaxed);
  return function;
}

void AddOne(size_t index) {
  if (counts == nullptr) return;
  counts->calls[index].fetch_add(1, std::memory_order_relaxed);
}

long Count(size_t index, long a, long b, long c, long d, long e, long f) {
  AddOne(index);
  const Function function = Real(index);
  // An old C library lacks some functions; nobody can have linked them then.
  if (function == nullptr) return -1;
  return function(a, b, c, d, e, f, 0);
}

#define KYMO_ROW(name) k_##name,
enum Index : size_t { KYMO_BLOCKING_CALLS(KYMO_ROW) kBehindLast };
#undef KYMO_ROW
#define KYMO_ROW(name, counted) alias##name,
enum AliasIndex : size_t { KYMO_BLOCKING_ALIASES(KYMO_ROW) };
#undef KYMO_ROW
static_assert(kBehindLast == kBlockingCallCount);

long CountAlias(size_t alias, size_t index, long a, long b, long c, long d,
                long e, long f, long g) {
  AddOne(index);
  const Function function = Real(kBlockingCallCount + alias);
  if (function == nullptr) return -1;
  return function(a, b, c, d, e, f, g);
}

__attribute__((constructor)) void Begin() {
  // Not in the middle of a wait: dlsym takes the loader's lock.
  for (size_t i = 0; i < kBlockingCallCount + kAliasCount; ++i) Real(i);
  const char* const path = getenv(kCallsVariable);
  if (path == nullptr) return;
  const long fd = Real(k_open)(reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC,
                               0, 0, 0, 0, 0);
  // An int, in a register whose upper half means nothing.
  const int file = static_cast<int>(fd);
  if (file < 0) return;
  void* const mapped = mmap(nullptr, sizeof(BlockingCallCounts),
                            PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  Real(k_close)(file, 0, 0, 0, 0, 0, 0);
  if (mapped == MAP_FAILED) return;
  auto* const begun = static_cast<BlockingCallCounts*>(mapped);
  begun->processes.fetch_add(1, std::memory_order_relaxed);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  counts = begun;
  prctl(kCountsBegin, usage.ru_minflt + usage.ru_majflt, 0, 0, 0);
}

}  // namespace
}  // namespace kymo

#define KYMO_ROW(name)                                                        \
  extern "C" __attribute__((visibility("default"))) long kymo_counted_##name( \
      long a, long b, long c, long d, long e, long f) __asm__(#name);         \
  long kymo_counted_##name(long a, long b, long c, long d, long e, long f) {  \
    return kymo::Count(kymo::k_##name, a, b, c, d, e, f);                     \
  }
KYMO_BLOCKING_CALLS(KYMO_ROW)
#undef KYMO_ROW

#define KYMO_ROW(name, counted)                                               \
  extern "C" __attribute__((visibility("default"))) long kymo_counted##name(  \
      long a, long b, long c, long d, long e, long f, long g) __asm__(#name); \
  long kymo_counted##name(long a, long b, long c, long d, long e, long f,     \
                          long g) {                                           \
    return kymo::CountAlias(kymo::alias##name, kymo::k_##counted, a, b, c, d, \
                            e, f, g);                                         \
  }
KYMO_BLOCKING_ALIASES(KYMO_ROW)
#undef KYMO_ROW
