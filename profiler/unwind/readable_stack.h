// readable_stack.h - which memory around a stack pointer may be read.
//
//   ReadableStack stack(sp);
//   if (stack.Contains(address)) word = stack.Read(address);
//
// A broken stack must not end the program, so nothing is read that is not known
// to be mapped. The thread's own stack is known once: it reaches from wherever
// the thread ever was to its top, which is where the loader (first thread) or
// the thread's control block (others) says. The way from a new lowest place to
// the known part is asked page by page, once. Any other stack (of a signal
// handler, of a coroutine) may be gone tomorrow: it is asked for page by page
// in every capture.
//
// The question is a system call that is allowed everywhere and does nothing:
// sigprocmask with a wrong first argument, which fails with EFAULT where its
// second cannot be read and else with EINVAL.
//
// Threads: an object is one thread's; signal handlers may come in between.
#ifndef KYMO_PROFILER_UNWIND_READABLE_STACK_H_
#define KYMO_PROFILER_UNWIND_READABLE_STACK_H_

#include <cstdint>

namespace kymo::unwind {

// Whether the page of `address` can be read. errno stays as it is.
bool IsReadable(uint64_t address) noexcept;

// The word at `address`; also where a sanitizer thinks that it is not ours.
__attribute__((no_sanitize_address, no_sanitize_thread)) inline uint64_t
ReadWord(uint64_t address) noexcept {
  return *reinterpret_cast<const uint64_t*>(address);
}

class ReadableStack {
 public:
  // The part at and above `sp`.
  explicit ReadableStack(uint64_t sp) noexcept { MoveTo(sp); }

  // To another stack, or to another place of this one.
  void MoveTo(uint64_t sp) noexcept;

  // Whether the word at `address` may be read: aligned, and not so far above
  // what was asked for before that it cannot be a frame of this stack.
  bool Contains(uint64_t address) noexcept {
    if ((address & (sizeof(uint64_t) - 1)) != 0 || address < low_) return false;
    return address < high_ || Extend(address);
  }

 private:
  bool Extend(uint64_t address) noexcept;

  uint64_t low_ = 0;
  uint64_t high_ = 0;
  bool can_extend_ = false;
};

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_READABLE_STACK_H_
