// capture_stack.h - the calling thread's stack, cheap enough for every event.
//
//   uint64_t pcs[64];
//   const size_t count = CaptureStack(pcs, 64, 0);
//   // pcs[0] is in the caller of CaptureStack, pcs[count - 1] in _start
//
// Each step from a frame to its caller follows the unwind tables that compilers
// write for exceptions, so code without frame pointers works. The rule of an
// address is computed once and then found by one probe: about 10 ns a frame.
// Where there is no table (generated code), frame pointers are followed from
// call to call.
//
// All entries have the form of return addresses: an entry's code ends one byte
// before the entry. Where a signal interrupted a function, the entry is the
// interrupted address + 1. So look up names by entry - 1.
//
// Threads: any, also in signal handlers, in allocation hooks and after fork. It
//   takes no lock (before glibc 2.35: the loader's, see loaded_code.h),
//   allocates nothing and keeps errno. It makes system calls on a thread's
//   first capture, on stacks that are not the thread's own, and for new
//   addresses.
// Errors: a broken stack gives fewer frames. Memory that may not be read is
//   never read.
// Limits: x86-64 and AArch64; on the latter, tested under an emulator only. A
//   call that the compiler turned into a jump left no frame. Code that keeps
//   its frame in a register other than rsp and rbp (sp and x29) ends the stack,
//   as some hand-written assembly does.
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

struct LoadedCode;

// What to add to the addresses of a loaded file. `mark` is called for each file
// that a walk comes to, sometimes twice. The bits of its result are set in the
// file's addresses, in which all of them must be 0. User addresses of x86-64
// and, without tags, of AArch64 leave the top 16 bits free.
struct FileMarks {
  uint64_t (*mark)(void* context, const LoadedCode& code) noexcept;
  void* context;
};

// Writes up to `max` addresses, innermost first, and returns how many. The
// first `skip` frames, beginning with the caller's, are left out.
size_t CaptureStack(uint64_t* pcs, size_t max, size_t skip,
                    StackEnd* end = nullptr) noexcept;

// The same, beginning with the caller of another function. That function must
// be on this thread's stack now; `frame_address` is its
// __builtin_frame_address(0). The frames between it and CaptureStackAbove cost
// nothing on x86-64, and as much as the others on AArch64.
size_t CaptureStackAbove(const void* frame_address, uint64_t* pcs, size_t max,
                         StackEnd* end = nullptr,
                         const FileMarks* marks = nullptr) noexcept;

// What a signal interrupted: the registers that its handler finds in ucontext.
struct Interrupted {
  uint64_t pc = 0;
  uint64_t sp = 0;
  uint64_t bp = 0;  // rbp or x29
#if defined(__aarch64__)
  uint64_t lr = 0;  // x30
#endif
};

// The same for code of this thread that a signal handler interrupted. The first
// entry is the interrupted function's.
size_t CaptureInterrupted(const Interrupted& code, uint64_t* pcs, size_t max,
                          StackEnd* end = nullptr,
                          const FileMarks* marks = nullptr) noexcept;

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_CAPTURE_STACK_H_
