// unwind_rule.h - how to get from a frame to its caller, in one machine word.
//
//   kSpOffset            cfa = sp + cfa_offset
//   kBpOffset            cfa = bp + cfa_offset
//   kBpMemory            cfa = the word at bp + cfa_offset (realigned stacks)
//
// The caller's sp is the cfa. The field `bp` says where the caller's bp is. No
// other registers are followed: compilers address frames by these two. Code
// that does not (some assembly) ends the stack.
//
//             sp    bp    the return address
//   x86-64    rsp   rbp   the word at cfa - 8
//   AArch64   sp    x29   the word at cfa + return_offset, or still in x30
//
// On AArch64 all offsets are divided by what they are multiples of (kCfaUnit,
// kSavedUnit), so that they fit. Frames of more than 256 KiB do not.
#ifndef KYMO_PROFILER_UNWIND_UNWIND_RULE_H_
#define KYMO_PROFILER_UNWIND_UNWIND_RULE_H_

#include <bit>
#include <cstdint>

namespace kymo::unwind {

enum class RuleKind : uint8_t {
  kMissing,  // not in the table; a lookup never ends with it
  kSpOffset,
  kBpOffset,
  kBpMemory,
  kSignalFrame,   // the kernel's ucontext is at sp
  kOutermost,     // no caller
  kUnsupported,   // there is a rule, but of no kind above
  kFramePointer,  // no rule, and after a call: bp may point to {bp, return}
  kNotCode,       // no rule, and no call ends here
};

enum class SavedBp : uint8_t {
  kSame,
  kAtCfa,  // the word at cfa + bp_offset
  kAtBp,   // the word at bp + bp_offset
};

#if defined(__aarch64__)
inline constexpr int64_t kCfaUnit = 16;   // how sp is aligned
inline constexpr int64_t kSavedUnit = 8;  // a word
#else
inline constexpr int64_t kCfaUnit = 1;
inline constexpr int64_t kSavedUnit = 1;
#endif

struct UnwindRule {
  RuleKind kind = RuleKind::kMissing;
  SavedBp bp = SavedBp::kSame;
  int16_t bp_offset = 0;
#if defined(__aarch64__)
  int16_t return_offset = 0;  // 0 = still in x30
  int16_t cfa_offset = 0;
#else
  int32_t cfa_offset = 0;
#endif

  friend bool operator==(const UnwindRule&, const UnwindRule&) = default;
};
static_assert(sizeof(UnwindRule) == sizeof(uint64_t));

inline uint64_t ToWord(UnwindRule rule) noexcept {
  return std::bit_cast<uint64_t>(rule);
}
inline UnwindRule RuleOfWord(uint64_t word) noexcept {
  return std::bit_cast<UnwindRule>(word);
}

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_UNWIND_RULE_H_
