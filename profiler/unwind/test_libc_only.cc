#include <cstddef>
#include <cstdint>

#include "profiler/unwind/capture_stack.h"

extern "C" size_t test_libc_only_capture(uint64_t* pcs, size_t max) {
  const size_t count = kymo::unwind::CaptureStack(pcs, max, 0);
  // Keeps the call from becoming a jump, so that this frame stays.
  asm volatile("" : : : "memory");
  return count;
}
