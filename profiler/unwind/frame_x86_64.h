// frame_x86_64.h - a frame of x86-64, and the steps from it to its caller.
//
// Part of capture_stack.cc, for the names have no linkage: so GCC inlines them
// as if they stood there. Each step returns false where the stack ends.
#ifndef KYMO_PROFILER_UNWIND_FRAME_X86_64_H_
#define KYMO_PROFILER_UNWIND_FRAME_X86_64_H_

#include <stddef.h>
#include <ucontext.h>

#include <cstdint>

#include "profiler/unwind/readable_stack.h"
#include "profiler/unwind/unwind_rule.h"

namespace kymo::unwind {
namespace {

inline constexpr uint64_t kWord = sizeof(uint64_t);

// One frame: its place in the code and its stack registers.
struct Frame {
  uint64_t pc = 0;  // in the instruction: return addresses minus 1
  uint64_t sp = 0;
  uint64_t bp = 0;
};

// Goes to the caller by the pair {bp, return address} that bp points to.
bool FollowFramePointer(Frame& frame, ReadableStack& stack) {
  const uint64_t link = frame.bp;
  if (link < frame.sp || !stack.Contains(link) ||
      !stack.Contains(link + kWord)) {
    return false;
  }
  frame = {.pc = ReadWord(link + kWord) - 1,
           .sp = link + 2 * kWord,
           .bp = ReadWord(link)};
  return true;
}

// Goes from a signal handler's frame to the code that the signal interrupted,
// with the registers that the kernel saved.
bool LeaveSignal(Frame& frame, ReadableStack& stack) {
  const uint64_t registers = frame.sp + offsetof(ucontext_t, uc_mcontext.gregs);
  const uint64_t sp = registers + REG_RSP * kWord;
  const uint64_t bp = registers + REG_RBP * kWord;
  const uint64_t pc = registers + REG_RIP * kWord;
  if (!stack.Contains(sp) || !stack.Contains(bp) || !stack.Contains(pc)) {
    return false;
  }
  frame = {.pc = ReadWord(pc), .sp = ReadWord(sp), .bp = ReadWord(bp)};
  // The handler may have had a stack of its own.
  stack.MoveTo(frame.sp);
  return true;
}

// REQUIRES: `rule` is one of the three that lead to a CFA.
inline bool FollowRule(UnwindRule rule, Frame& frame, ReadableStack& stack) {
  uint64_t cfa = static_cast<uint64_t>(int64_t{rule.cfa_offset}) +
                 (rule.kind == RuleKind::kSpOffset ? frame.sp : frame.bp);
  if (rule.kind == RuleKind::kBpMemory) [[unlikely]] {
    if (!stack.Contains(cfa)) return false;
    cfa = ReadWord(cfa);
  }
  // Callers are above their callees, so no stack goes in circles.
  if (cfa <= frame.sp || !stack.Contains(cfa - kWord)) return false;
  uint64_t bp = frame.bp;
  if (rule.bp != SavedBp::kSame) {
    const uint64_t base = rule.bp == SavedBp::kAtCfa ? cfa : frame.bp;
    const uint64_t saved =
        base + static_cast<uint64_t>(int64_t{rule.bp_offset});
    if (!stack.Contains(saved)) return false;
    bp = ReadWord(saved);
  }
  frame = {.pc = ReadWord(cfa - kWord) - 1, .sp = cfa, .bp = bp};
  return true;
}

}  // namespace
}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_FRAME_X86_64_H_
