// captured_stack.h - a thread's open ranges, for interfaces that end "the
// innermost range" (of a domain) without naming it.
//
//   OpenCaptured* const open = PushCaptured(domain);
//   if (open != nullptr && IsAnythingOn()) BeginCaptured(open->range, what);
//   ...
//   OpenRange range;
//   if (PopCaptured(domain, &range) < 0) CountEndWithoutBegin();
//   EndRange(range);
//
// Each domain has a stack of its own: an end finds the innermost range of its
// domain, even if a range of another domain lies above it. While nobody
// records, a push adds an entry whose range is empty.
//
// Cost: a thread's first push maps 16 KiB, which are unmapped at its end.
// Threads: a stack belongs to its thread. A signal handler on the thread may
//   push and pop if it leaves the stack as it was. A forked child has a copy of
//   its parent's.
#ifndef KYMO_PROFILER_RECORD_CAPTURED_STACK_H_
#define KYMO_PROFILER_RECORD_CAPTURED_STACK_H_

#include <cstdint>

#include "profiler/record/range.h"

namespace kymo::record {

struct OpenCaptured {
  OpenRange range;
  const void* domain;
  int32_t level;  // ranges of the domain below it
};

struct CapturedStack {
  uint32_t size;
  uint32_t capacity;
  OpenCaptured open[];  // innermost last
};
extern constinit thread_local CapturedStack* captured_stack
    __attribute__((tls_model("initial-exec")));

// A stack with room for one more entry; null when memory is short.
CapturedStack* GrowCapturedStack() noexcept;
int RemoveCaptured(CapturedStack* stack, const void* domain,
                   OpenRange* range) noexcept;

// Stays valid until the next push. Null when memory is short.
inline OpenCaptured* PushCaptured(const void* domain) noexcept {
  CapturedStack* stack = captured_stack;
  if (stack == nullptr || stack->size == stack->capacity) [[unlikely]] {
    stack = GrowCapturedStack();
    if (stack == nullptr) return nullptr;
  }
  // Taken before it is written, see Threads.
  const uint32_t at = stack->size;
  __atomic_store_n(&stack->size, at + 1, __ATOMIC_RELAXED);
  OpenCaptured* const open = &stack->open[at];
  open->range.slot = nullptr;
  open->domain = domain;
  open->level = 0;
  for (uint32_t i = at; i-- > 0;) {
    if (stack->open[i].domain == domain) {
      open->level = stack->open[i].level + 1;
      break;
    }
  }
  return open;
}

// Returns the range and its level, or -1 if the domain has no open range.
inline int PopCaptured(const void* domain, OpenRange* range) noexcept {
  CapturedStack* const stack = captured_stack;
  if (stack == nullptr || stack->size == 0) [[unlikely]]
    return -1;
  const OpenCaptured& top = stack->open[stack->size - 1];
  if (top.domain != domain) [[unlikely]]
    return RemoveCaptured(stack, domain, range);
  *range = top.range;
  const int level = top.level;
  __atomic_store_n(&stack->size, stack->size - 1, __ATOMIC_RELAXED);
  return level;
}

// The innermost open range of the domain; null if there is none.
OpenCaptured* TopCaptured(const void* domain) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_CAPTURED_STACK_H_
