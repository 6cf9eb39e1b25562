// readable_stack.h - tells which memory around a stack pointer may be read.
//
//   ReadableStack stack(sp);
//   if (stack.Contains(address)) word = stack.Read(address);
//
// A broken stack must not end the program, so only memory that is known to be
// mapped is read. The thread's own stack is found out once. Its top is where
// the loader (first thread) or the thread's control block (other threads) says.
// Its known part reaches down to the lowest place where the thread ever was; a
// new lowest place is checked page by page, once. Any other stack (of a signal
// handler, of a coroutine) may be unmapped later, so its pages are checked in
// every capture.
//
// The check is a system call that is allowed everywhere and does nothing:
// sigprocmask with a wrong first argument. It fails with EFAULT if its second
// argument cannot be read, else with EINVAL.
//
// Threads: an object belongs to one thread. Signal handlers may interrupt it.
#ifndef KYMO_PROFILER_UNWIND_READABLE_STACK_H_
#define KYMO_PROFILER_UNWIND_READABLE_STACK_H_

#include <cstdint>

namespace kymo::unwind {

// Whether the page of `address` can be read. errno stays as it is.
bool IsReadable(uint64_t address) noexcept;

// Reads the word at `address`, even where a sanitizer thinks that it is not
// ours.
__attribute__((no_sanitize_address, no_sanitize_thread)) inline uint64_t
ReadWord(uint64_t address) noexcept {
  return *reinterpret_cast<const uint64_t*>(address);
}

class ReadableStack {
 public:
  // Covers the part of the stack at and above `sp`.
  explicit ReadableStack(uint64_t sp) noexcept { MoveTo(sp); }

  // Goes to another stack, or to another place of this one.
  void MoveTo(uint64_t sp) noexcept;

  // Whether the word at `address` may be read. It must be aligned. It must not
  // be so far above the addresses asked for before that it cannot be a frame of
  // this stack.
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
