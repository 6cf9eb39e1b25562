#include "profiler/unwind/rule_table.h"

#include "profiler/unwind/frame_entry.h"
#include "profiler/unwind/readable_stack.h"

namespace kymo::unwind {

constinit RuleLine rule_lines[size_t{1} << kLineBits] = {};

namespace {

void Enter(uint64_t key, UnwindRule rule) {
  RuleSlot* const slots = LineOf(key).slots;
  size_t chosen = 0;
  while (chosen < kSlotsPerLine &&
         slots[chosen].rule.load(std::memory_order_relaxed) != 0) {
    ++chosen;
  }
  // If the line is full, replace any slot, but not always the same one.
  if (chosen == kSlotsPerLine) chosen = (key >> 4) % kSlotsPerLine;
  const uint64_t word = ToWord(rule);
  slots[chosen].rule.store(word, std::memory_order_relaxed);
  slots[chosen].key_and_rule.store(key ^ word, std::memory_order_relaxed);
}

#if defined(__aarch64__)

// The two instructions at `address`, the first in the low half; 0 if they
// cannot be read. They may be anything, since code without a table is not known
// to be code.
__attribute__((no_sanitize_address, no_sanitize_thread)) uint64_t
InstructionsAt(uint64_t address) {
  if (address % 4 != 0 || !IsReadable(address) || !IsReadable(address + 7)) {
    return 0;
  }
  const auto* const words = reinterpret_cast<const uint32_t*>(address);
  return words[0] | uint64_t{words[1]} << 32;
}

// Whether a call instruction (BL or BLR) ends with the byte at `last`.
bool EndsCall(uint64_t last) {
  if (last < 7) return false;
  const uint64_t call = InstructionsAt(last - 7) >> 32;
  return (call & 0xfc000000) == 0x94000000 || (call & 0xfffffc1f) == 0xd63f0000;
}

// Whether a signal handler returns to the code behind `last`: mov x8,
// #__NR_rt_sigreturn; svc #0. The kernel gives this code no table.
bool EndsBeforeSignalReturn(uint64_t last) {
  return InstructionsAt(last + 1) == 0xd4000001d2801168;
}

#else

// Whether a call instruction ends with the byte at `last`: E8 with four bytes
// of distance, or FF /2 with one to six bytes behind the opcode (register or
// memory, with a displacement). The bytes may be anything, since code without a
// table is not known to be code.
__attribute__((no_sanitize_address, no_sanitize_thread)) bool EndsCall(
    uint64_t last) {
  constexpr uint64_t kLongest = 7;
  if (last < kLongest || !IsReadable(last) ||
      !IsReadable(last - kLongest + 1)) {
    return false;
  }
  const auto* const end = reinterpret_cast<const uint8_t*>(last) + 1;
  if (end[-5] == 0xe8) return true;
  for (int size = 2; size <= static_cast<int>(kLongest); ++size) {
    if (end[-size] == 0xff && (end[1 - size] & 0x38) == 0x10) return true;
  }
  return false;
}

// Its table is libc's.
bool EndsBeforeSignalReturn(uint64_t) { return false; }

#endif

}  // namespace

UnwindRule ComputeRule(uint64_t pc, const LoadedCode* code) noexcept {
  UnwindRule rule;
  if (code != nullptr) {
    const auto* const end = reinterpret_cast<const uint8_t*>(code->end);
    const uint8_t* const entry = FindEntry(code->frame_header, end, pc);
    if (entry != nullptr) rule = RuleOfEntry(entry, end, pc);
  }
  if (rule.kind == RuleKind::kMissing) {
    rule.kind = EndsBeforeSignalReturn(pc) ? RuleKind::kSignalFrame
                : EndsCall(pc)             ? RuleKind::kFramePointer
                                           : RuleKind::kNotCode;
  }
  Enter(pc + (code != nullptr ? code->identity : 0), rule);
  return rule;
}

}  // namespace kymo::unwind
