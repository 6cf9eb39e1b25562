// capture_stack.h - the calling thread's stack, cheap enough for every event.
//
//   uint64_t pcs[64];
//   const size_t count = CaptureStack(pcs, 64, 0);
//   // pcs[0] is in the caller of CaptureStack, pcs[count - 1] in _start
//
// Each step from a frame to its caller follows the unwind tables that compilers
// write for exceptions, so code without frame pointers is no obstacle. What a
// table says of an address is computed once and then found by one probe; some
// 10 ns a frame. Only where there is no table (generated code) frame pointers
// are followed, from call to call.
//
// All entries are return addresses in form: the code that an entry stands for
// ends one byte before it. Where a signal interrupted a function, the entry is
// the interrupted address + 1. So whoever looks for names asks for entry - 1.
//
// Threads: any, also signal handlers and allocation hooks; fork is no matter.
//   No lock (glibc before 2.35: the loader's, see loaded_code.h), no
//   allocation, errno is kept. On a thread's first capture, on stacks that are
//   not the thread's own and for new addresses there are system calls.
// Errors: a broken stack gives fewer frames. Nothing is read that may not be.
// Limits: x86-64. Elsewhere frame pointers only. Calls that the compiler turned
//   into jumps left no frame. Code that keeps its frame in another register
//   than rsp and rbp ends the stack: some hand-written assembly does.
#ifndef KYMO_PROFILER_UNWIND_CAPTURE_STACK_H_
#define KYMO_PROFILER_UNWIND_CAPTURE_STACK_H_

#include <cstddef>
#include <cstdint>

namespace kymo::unwind {

enum class StackEnd : uint8_t {
  kOutermost,  // complete: the last frame has no caller
  kLimit,      // there are more than `max`
  kUnknown,    // the last frame has a caller, which could not be found
};

// Writes up to `max` addresses, innermost first, and returns how many. `skip`
// frames next to the caller are left out.
size_t CaptureStack(uint64_t* pcs, size_t max, size_t skip,
                    StackEnd* end = nullptr) noexcept;

// The stack of the caller of a function that is on this thread's stack now, and
// that gives its own __builtin_frame_address(0): the frames between it and here
// cost nothing.
size_t CaptureStackAbove(const void* frame_address, uint64_t* pcs, size_t max,
                         StackEnd* end = nullptr) noexcept;

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_CAPTURE_STACK_H_
