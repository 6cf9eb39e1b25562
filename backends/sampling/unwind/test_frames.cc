#include "backends/sampling/unwind/test_frames.h"

#include <alloca.h>

#include <cstdint>

// Compiled twice; PREFIX is the name of the variant.
#define KYMO_JOIN_(a, b) a##b
#define KYMO_JOIN(a, b) KYMO_JOIN_(a, b)
#define KYMO_NAME(suffix) KYMO_JOIN(PREFIX, suffix)

namespace {

// Uses `address` in a way that the compiler cannot see through.
void Use(volatile void* address) {
  asm volatile("" : : "r"(address) : "memory");
}

}  // namespace

extern "C" {

[[gnu::noinline, gnu::noipa]] void KYMO_NAME(_inner)(void (*callback)(void*),
                                                     void* argument) {
  volatile char room[40];
  Use(room);
  callback(argument);
  Use(room);
}

[[gnu::noinline, gnu::noipa]] void KYMO_NAME(_middle)(void (*callback)(void*),
                                                      void* argument) {
  volatile char room[200];
  Use(room);
  KYMO_NAME(_inner)(callback, argument);
  Use(room);
}

[[gnu::noinline, gnu::noipa]] void KYMO_NAME(_outer)(void (*callback)(void*),
                                                     void* argument) {
  volatile char room[24];
  Use(room);
  KYMO_NAME(_middle)(callback, argument);
  Use(room);
}

[[gnu::noinline, gnu::noipa]] void KYMO_NAME(_realigned)(
    void (*callback)(void*), void* argument) {
  alignas(64) volatile char room[64];
  Use(room);
  KYMO_NAME(_inner)(callback, argument);
  Use(room);
}

[[gnu::noinline, gnu::noipa]] void KYMO_NAME(_dynamic)(void (*callback)(void*),
                                                       void* argument) {
  void* const room = alloca(64 + (reinterpret_cast<uintptr_t>(argument) & 255));
  Use(room);
  KYMO_NAME(_inner)(callback, argument);
  Use(room);
}

#ifdef WITH_RECURSION
[[gnu::noinline, gnu::noipa]] void test_recursion(int depth,
                                                  void (*callback)(void*),
                                                  void* argument) {
  volatile char room[100];
  Use(room);
  if (depth == 0) {
    callback(argument);
  } else {
    test_recursion(depth - 1, callback, argument);
  }
  Use(room);
}
#endif

}  // extern "C"
