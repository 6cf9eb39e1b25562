// captured_stack.h - a thread's open ranges, for interfaces that end "the
// innermost range" (of a domain) without naming it.
//
//   PushCaptured(domain, [&](OpenRange& range) {
//     if (IsAnythingOn()) BeginCaptured(range, what);
//   });
//   ...
//   OpenRange range;
//   if (PopCaptured(domain, &range) < 0) CountEndWithoutBegin();
//   EndRange(range);
//
// Each domain has a stack of its own: an end finds the innermost range of its
// domain, even if a range of another domain lies above it. While nobody
// records, a push adds an entry whose range is empty. A push for which there is
// no memory is counted, and takes one pop.
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

// A stack with room for one more entry. Null when memory is short: the push is
// then counted as left out.
CapturedStack* GrowCapturedStack() noexcept;
int RemoveCaptured(CapturedStack* stack, const void* domain,
                   OpenRange* range) noexcept;

// Left-out pushes of this thread whose pops have not come. While there are
// some, there is no stack, or it is full.
extern constinit thread_local uint32_t captured_left_out
    __attribute__((tls_model("initial-exec")));

// Word by word: a wider load would wait for the stores of `from`, which have
// just been made (5 ns).
inline void KeepRange(const OpenRange& from, OpenRange& to) noexcept {
  __atomic_store_n(&to.slot, from.slot, __ATOMIC_RELAXED);
  __atomic_store_n(&to.ticket, from.ticket, __ATOMIC_RELAXED);
  __atomic_store_n(&to.stream, from.stream, __ATOMIC_RELAXED);
  __atomic_store_n(&to.depth, from.depth, __ATOMIC_RELAXED);
}

// `begin(range)` begins the range. Returns its level, or -1 when memory is
// short.
template <typename Begin>
inline int PushCaptured(const void* domain, Begin begin) noexcept {
  CapturedStack* stack = captured_stack;
  if (stack == nullptr || stack->size == stack->capacity) [[unlikely]] {
    stack = GrowCapturedStack();
    if (stack == nullptr) return -1;
  }
  // Taken before it is written, see Threads.
  const uint32_t at = stack->size;
  __atomic_store_n(&stack->size, at + 1, __ATOMIC_RELAXED);
  OpenCaptured* const open = &stack->open[at];
  open->domain = domain;
  int32_t level = 0;
  for (uint32_t i = at; i-- > 0;) {
    if (stack->open[i].domain == domain) {
      level = stack->open[i].level + 1;
      break;
    }
  }
  open->level = level;
  OpenRange range;
  begin(range);
  // The entry is empty. A signal handler may have moved the stack meanwhile.
  if (range.slot != nullptr) KeepRange(range, captured_stack->open[at].range);
  return level;
}

// Returns the range and its level, or -1 if the domain has no open range.
inline int PopCaptured(const void* domain, OpenRange* range) noexcept {
  CapturedStack* const stack = captured_stack;
  if (stack == nullptr || stack->size == 0 || stack->size == stack->capacity)
      [[unlikely]] {
    if (captured_left_out != 0) {
      --captured_left_out;
      range->slot = nullptr;
      return 0;
    }
    if (stack == nullptr || stack->size == 0) return -1;
  }
  OpenCaptured& top = stack->open[stack->size - 1];
  if (top.domain != domain) [[unlikely]]
    return RemoveCaptured(stack, domain, range);
  *range = top.range;
  const int level = top.level;
  // Empty for a handler that comes between the next push and its begin.
  top.range.slot = nullptr;
  __atomic_store_n(&stack->size, stack->size - 1, __ATOMIC_RELAXED);
  return level;
}

// The innermost open range of the domain; null if there is none.
OpenCaptured* TopCaptured(const void* domain) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_CAPTURED_STACK_H_
