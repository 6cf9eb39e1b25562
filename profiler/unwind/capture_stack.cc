#include "profiler/unwind/capture_stack.h"

#include "profiler/unwind/known_frames.h"
#include "profiler/unwind/loaded_code.h"
#include "profiler/unwind/readable_stack.h"
#include "profiler/unwind/rule_table.h"
#include "profiler/unwind/unwind_rule.h"

#if defined(__x86_64__)
#include "profiler/unwind/frame_x86_64.h"
#elif defined(__aarch64__)
#include "profiler/unwind/frame_aarch64.h"
#else
#error "Kymo runs on x86-64 and AArch64"
#endif

namespace kymo::unwind {
namespace {

// A loaded file, and what is added to its addresses.
struct MarkedCode {
  const LoadedCode* code;
  uint64_t mark;
  LoadedCode own;  // has `code`, unless that is a LoadedCode::for_ever
};

// A cache of the loaded files in this capture: one stack goes through few
// files.
class MetCode {
 public:
  MetCode(const FileMarks* marks, KnownFrames& known) noexcept
      : marks_(marks), known_(known) {}

  // The file of `pc`; null outside of loaded files.
  const MarkedCode* Find(uint64_t pc) noexcept {
    if (last_ != nullptr && Has(*last_->code, pc)) [[likely]] {
      return last_;
    }
    const MarkedCode* const found = FindOther(pc);
    if (found != nullptr) last_ = found;
    return found;
  }

 private:
  static constexpr size_t kMost = 4;

  static bool Has(const LoadedCode& code, uint64_t pc) noexcept {
    return pc - code.begin < code.end - code.begin;
  }

  [[gnu::noinline]] const MarkedCode* FindOther(uint64_t pc) noexcept {
    for (size_t i = 0; i < count_; ++i) {
      if (Has(*met_[i].code, pc)) return &met_[i];
    }
    MarkedCode& met = met_[next_];
    const LoadedCode* code = known_.FindFile(pc);
    if (code == nullptr) {
      LoadedCode found;
      if (!FindLoadedCode(pc, &found)) return nullptr;
      if (found.for_ever != nullptr) known_.EnterFile(found.for_ever);
      met.own = found;
      code = &met.own;
    }
    met.code = code;
    met.mark = marks_ != nullptr ? marks_->mark(marks_->context, *code) : 0;
    next_ = (next_ + 1) % kMost;
    if (count_ < kMost) ++count_;
    return &met;
  }

  const FileMarks* const marks_;
  KnownFrames& known_;
  const MarkedCode* last_ = nullptr;
  size_t count_ = 0;  // of met_, which has no other values
  size_t next_ = 0;
  MarkedCode met_[kMost];
};

inline bool ToCaller(UnwindRule rule, Frame& frame, ReadableStack& stack) {
  if (rule.kind == RuleKind::kSpOffset || rule.kind == RuleKind::kBpOffset ||
      rule.kind == RuleKind::kBpMemory) [[likely]] {
    return FollowRule(rule, frame, stack);
  }
  // A copy, so that the frame itself may stay in registers.
  Frame copy = frame;
  const bool has_caller = rule.kind == RuleKind::kSignalFrame
                              ? LeaveSignal(copy, stack)
                              : FollowFramePointer(copy, stack);
  frame = copy;
  return has_caller;
}

// The rule of a frame whose place `known` does not know.
[[gnu::noinline]] UnwindRule NewRule(uint64_t sp, uint64_t pc,
                                     const LoadedCode* code,
                                     KnownFrames& known) noexcept {
  const uint64_t identity = code != nullptr ? code->identity : 0;
  UnwindRule rule = FindRule(pc, identity);
  if (rule.kind == RuleKind::kMissing) rule = ComputeRule(pc, code);
  known.Enter(sp, pc, identity, rule);
  return rule;
}

// The rule of a frame, whose file is `code` (null: none).
inline __attribute__((always_inline)) UnwindRule RuleOf(
    const Frame& frame, const LoadedCode* code, KnownFrames& known) noexcept {
  const uint64_t identity = code != nullptr ? code->identity : 0;
  UnwindRule rule;
  if (!known.Find(frame.sp, frame.pc, identity, &rule)) [[unlikely]] {
    rule = NewRule(frame.sp, frame.pc, code, known);
  }
  return rule;
}

// Walks the frames from `frame` on.
inline __attribute__((always_inline)) size_t WalkFrom(
    Frame frame, uint64_t* pcs, size_t max, size_t skip, StackEnd* end,
    const FileMarks* marks) noexcept {
  ReadableStack stack(frame.sp);
  KnownFrames& known = KnownFrames::OfThread();
  MetCode files(marks, known);
  StackEnd why = StackEnd::kUnknown;
  size_t count = 0;
  for (;;) {
    const MarkedCode* const met = files.Find(frame.pc);
    const UnwindRule rule =
        RuleOf(frame, met != nullptr ? met->code : nullptr, known);
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

#if defined(__x86_64__)

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

// Walks the frames above the one whose frame pointer is `own`. That does not
// tell its caller's sp, so the frames below are walked, too. bp is `own` in the
// frame itself, and in callees that do not change it.
inline __attribute__((always_inline)) size_t Walk(
    uint64_t own, uint64_t* pcs, size_t max, size_t skip, StackEnd* end,
    const FileMarks* marks) noexcept {
  Frame frame = ThisFrame();
  ReadableStack stack(frame.sp);
  KnownFrames& known = KnownFrames::OfThread();
  MetCode files(nullptr, known);
  if (end != nullptr) *end = StackEnd::kUnknown;
  for (bool is_at_own = false; !is_at_own || frame.bp == own;) {
    is_at_own |= frame.bp == own;
    const MarkedCode* const met = files.Find(frame.pc);
    const UnwindRule rule =
        RuleOf(frame, met != nullptr ? met->code : nullptr, known);
    if (!ToCaller(rule, frame, stack)) return 0;
  }
  return WalkFrom(frame, pcs, max, skip, end, marks);
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
  return WalkFrom(
#if defined(__aarch64__)
      {.pc = code.pc, .sp = code.sp, .bp = code.bp, .lr = code.lr},
#else
      {.pc = code.pc, .sp = code.sp, .bp = code.bp},
#endif
      pcs, max, 0, end, marks);
}

}  // namespace kymo::unwind
