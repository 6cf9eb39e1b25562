// frame_aarch64.h - a frame of AArch64, and the steps from it to its caller.
//
// Part of capture_stack.cc. Each step returns false where the stack ends. bp is
// x29, which points to the frame record {caller's x29, return address}. The
// record may lie anywhere in its frame, so it does not tell the caller's sp.
// See "Procedure Call Standard for the Arm 64-bit Architecture", 6.4.6.
#ifndef KYMO_PROFILER_UNWIND_FRAME_AARCH64_H_
#define KYMO_PROFILER_UNWIND_FRAME_AARCH64_H_

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include <cstdint>

#include "profiler/unwind/readable_stack.h"
#include "profiler/unwind/unwind_rule.h"

namespace kymo::unwind {

inline constexpr uint64_t kWord = sizeof(uint64_t);

// One frame: its place in the code and its stack registers.
struct Frame {
  uint64_t pc = 0;  // in the instruction: return addresses minus 1
  uint64_t sp = 0;
  uint64_t bp = 0;
  uint64_t lr = 0;  // x30; 0 = not known, as in all but innermost frames
  bool is_sp_least = false;  // sp may be higher than this
};

// The frame of the function that this is inlined into.
inline __attribute__((always_inline)) Frame ThisFrame() noexcept {
  Frame frame;
  asm volatile(
      "adr %0, .\n\t"
      "mov %1, sp\n\t"
      "mov %2, x29\n\t"
      "mov %3, x30"
      : "=&r"(frame.pc), "=&r"(frame.sp), "=&r"(frame.bp), "=&r"(frame.lr));
  return frame;
}

// Without the signature that pointer authentication may have put into an
// address: XPACLRI, which older processors take for a NOP.
inline uint64_t WithoutSignature(uint64_t address) noexcept {
  register uint64_t lr asm("x30") = address;
  asm("hint #7" : "+r"(lr));
  return lr;
}

// Goes to the caller by the frame record.
inline bool FollowFramePointer(Frame& frame, ReadableStack& stack) {
  const uint64_t link = frame.bp;
  if (link < frame.sp || !stack.Contains(link) ||
      !stack.Contains(link + kWord)) {
    return false;
  }
  frame = {.pc = WithoutSignature(ReadWord(link + kWord)) - 1,
           .sp = link + 2 * kWord,
           .bp = ReadWord(link),
           .is_sp_least = true};
  return true;
}

// Goes from a signal handler's frame to the code that the signal interrupted.
// sp is that of the kernel's struct rt_sigframe: siginfo, ucontext.
inline bool LeaveSignal(Frame& frame, ReadableStack& stack) {
  if (frame.is_sp_least) return false;
  const uint64_t context =
      frame.sp + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext);
  const uint64_t bp = context + offsetof(mcontext_t, regs) + 29 * kWord;
  const uint64_t lr = bp + kWord;
  const uint64_t sp = context + offsetof(mcontext_t, sp);
  const uint64_t pc = context + offsetof(mcontext_t, pc);
  if (!stack.Contains(bp) || !stack.Contains(lr) || !stack.Contains(sp) ||
      !stack.Contains(pc)) {
    return false;
  }
  frame = {.pc = ReadWord(pc),
           .sp = ReadWord(sp),
           .bp = ReadWord(bp),
           .lr = ReadWord(lr)};
  // The handler may have had a stack of its own.
  stack.MoveTo(frame.sp);
  return true;
}

inline uint64_t OffsetBytes(int64_t offset, int64_t unit) noexcept {
  return static_cast<uint64_t>(offset * unit);
}

// REQUIRES: `rule` is one of the three that lead to a CFA.
inline bool FollowRule(UnwindRule rule, Frame& frame, ReadableStack& stack) {
  uint64_t cfa = OffsetBytes(rule.cfa_offset, kCfaUnit) +
                 (rule.kind == RuleKind::kSpOffset ? frame.sp : frame.bp);
  if (rule.kind == RuleKind::kSpOffset && frame.is_sp_least) {
    // x29 and x30 that are saved side by side are the record that bp points to.
    if (rule.bp != SavedBp::kAtCfa ||
        rule.return_offset != rule.bp_offset + 1) {
      return FollowFramePointer(frame, stack);
    }
    cfa = frame.bp - OffsetBytes(rule.bp_offset, kSavedUnit);
  }
  if (rule.kind == RuleKind::kBpMemory) [[unlikely]] {
    if (!stack.Contains(cfa)) return false;
    cfa = ReadWord(cfa);
  }
  // Callers are above their callees, so no stack goes in circles. What still
  // has its return address in x30 may have no frame, but has no callee.
  uint64_t return_address = frame.lr;
  if (rule.return_offset == 0) {
    if (cfa < frame.sp || return_address == 0) return false;
  } else {
    const uint64_t saved = cfa + OffsetBytes(rule.return_offset, kSavedUnit);
    if (cfa <= frame.sp || !stack.Contains(saved)) return false;
    return_address = ReadWord(saved);
  }
  uint64_t bp = frame.bp;
  if (rule.bp != SavedBp::kSame) {
    const uint64_t base = rule.bp == SavedBp::kAtCfa ? cfa : frame.bp;
    const uint64_t saved = base + OffsetBytes(rule.bp_offset, kSavedUnit);
    if (!stack.Contains(saved)) return false;
    bp = ReadWord(saved);
  }
  frame = {.pc = WithoutSignature(return_address) - 1, .sp = cfa, .bp = bp};
  return true;
}

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_FRAME_AARCH64_H_
