#include "profiler/unwind/capture_stack.h"

#include "profiler/unwind/readable_stack.h"

#if defined(__x86_64__)
#include <ucontext.h>

#include "profiler/unwind/loaded_code.h"
#include "profiler/unwind/rule_table.h"
#include "profiler/unwind/unwind_rule.h"
#endif

namespace kymo::unwind {
namespace {

constexpr uint64_t kWord = sizeof(uint64_t);

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

#if defined(__x86_64__)

// A loaded file, and what is added to its addresses.
struct MarkedCode {
  LoadedCode code;
  uint64_t mark = 0;
};

// A cache of the loaded files in this capture: one stack goes through few
// files.
class MetCode {
 public:
  explicit MetCode(const FileMarks* marks) noexcept : marks_(marks) {}

  // The file of `pc`; null outside of loaded files.
  const MarkedCode* Find(uint64_t pc) noexcept {
    if (Has(last_->code, pc)) [[likely]] {
      return last_;
    }
    for (const MarkedCode& met : met_) {
      if (Has(met.code, pc)) return last_ = &met;
    }
    MarkedCode& met = met_[next_];
    if (!FindLoadedCode(pc, &met.code)) {
      met = {};
      return nullptr;
    }
    if (marks_ != nullptr) met.mark = marks_->mark(marks_->context, met.code);
    next_ = (next_ + 1) % kMost;
    return last_ = &met;
  }

 private:
  static constexpr size_t kMost = 4;

  static bool Has(const LoadedCode& code, uint64_t pc) noexcept {
    return pc - code.begin < code.end - code.begin;
  }

  const FileMarks* const marks_;
  MarkedCode met_[kMost];
  const MarkedCode* last_ = met_;
  size_t next_ = 0;
};

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

inline bool ToCaller(UnwindRule rule, Frame& frame, ReadableStack& stack) {
  switch (rule.kind) {
    case RuleKind::kSpOffset:
    case RuleKind::kBpOffset:
    case RuleKind::kBpMemory:
      return FollowRule(rule, frame, stack);
    case RuleKind::kSignalFrame:
      return LeaveSignal(frame, stack);
    default:
      return FollowFramePointer(frame, stack);
  }
}

#endif

#if defined(__x86_64__)

// Walks the frames from `frame` on.
inline __attribute__((always_inline)) size_t WalkFrom(
    Frame frame, uint64_t* pcs, size_t max, size_t skip, StackEnd* end,
    const FileMarks* marks) noexcept {
  ReadableStack stack(frame.sp);
  MetCode files(marks);
  StackEnd why = StackEnd::kUnknown;
  size_t count = 0;
  for (;;) {
    const MarkedCode* const met = files.Find(frame.pc);
    const LoadedCode* const code = met != nullptr ? &met->code : nullptr;
    UnwindRule rule = FindRule(frame.pc, code != nullptr ? code->identity : 0);
    if (rule.kind == RuleKind::kMissing) [[unlikely]] {
      rule = ComputeRule(frame.pc, code);
    }
    if (rule.kind == RuleKind::kNotCode) break;
    if (skip > 0) {
      --skip;
    } else if (count < max) {
      pcs[count++] = (frame.pc + 1) | (met != nullptr ? met->mark : 0);
    } else {
      why = StackEnd::kLimit;
      break;
    }
    if (rule.kind == RuleKind::kOutermost) {
      why = StackEnd::kOutermost;
      break;
    }
    if (rule.kind == RuleKind::kUnsupported) break;
    if (!ToCaller(rule, frame, stack)) break;
  }
  if (end != nullptr) *end = why;
  return count;
}

// Walks the frames above the one whose frame pointer is `own`.
inline __attribute__((always_inline)) size_t Walk(
    uint64_t own, uint64_t* pcs, size_t max, size_t skip, StackEnd* end,
    const FileMarks* marks) noexcept {
  return WalkFrom({.pc = ReadWord(own + kWord) - 1,
                   .sp = own + 2 * kWord,
                   .bp = ReadWord(own)},
                  pcs, max, skip, end, marks);
}

#else

inline __attribute__((always_inline)) size_t Walk(uint64_t own, uint64_t* pcs,
                                                  size_t max, size_t skip,
                                                  StackEnd* end,
                                                  const FileMarks*) noexcept {
  Frame frame = {.pc = 0, .sp = own, .bp = own};
  ReadableStack stack(own);
  StackEnd why = StackEnd::kOutermost;
  size_t count = 0;
  while (frame.bp != 0) {
    if (!FollowFramePointer(frame, stack)) {
      why = StackEnd::kUnknown;
      break;
    }
    if (skip > 0) {
      --skip;
    } else if (count < max) {
      pcs[count++] = frame.pc + 1;
    } else {
      why = StackEnd::kLimit;
      break;
    }
  }
  if (end != nullptr) *end = why;
  return count;
}

#endif

}  // namespace

__attribute__((noinline)) size_t CaptureStack(uint64_t* pcs, size_t max,
                                              size_t skip,
                                              StackEnd* end) noexcept {
  return Walk(reinterpret_cast<uint64_t>(__builtin_frame_address(0)), pcs, max,
              skip, end, nullptr);
}

size_t CaptureStackAbove(const void* frame_address, uint64_t* pcs, size_t max,
                         StackEnd* end, const FileMarks* marks) noexcept {
  return Walk(reinterpret_cast<uint64_t>(frame_address), pcs, max, 0, end,
              marks);
}

size_t CaptureInterrupted(const Interrupted& code, uint64_t* pcs, size_t max,
                          StackEnd* end, const FileMarks* marks) noexcept {
#if defined(__x86_64__)
  return WalkFrom({.pc = code.pc, .sp = code.sp, .bp = code.bp}, pcs, max, 0,
                  end, marks);
#else
  (void)code, (void)pcs, (void)max, (void)marks;
  if (end != nullptr) *end = StackEnd::kUnknown;
  return 0;
#endif
}

}  // namespace kymo::unwind
