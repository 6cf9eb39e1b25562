// rule_table.h - the rules of all code addresses that were ever on a stack.
//
//   UnwindRule rule = FindRule(pc, identity);   // a few ns for a known address
//   if (rule.kind == RuleKind::kMissing) rule = ComputeRule(pc, code);
//
// One table for the process, of fixed size, in zeroed static memory: it needs
// no set-up and takes the pages that are used. 4 slots of two words make one
// cache line; an address may be in any slot of its line:
//
//   slot = { key ^ rule, rule }          key = pc + identity of its file
//
// Invariants:
//  1. A slot answers only for the key that its two words give together. Words
//     of two writers, or of none, give a key that nobody asks for; so both are
//     written and read relaxed, by any number of threads and signal handlers.
//  2. A rule is a function of its key. When a file is unloaded and another one
//     is at its addresses, `identity` is another one and what was learnt of the
//     first is not found; nothing has to be told that files come and go.
#ifndef KYMO_PROFILER_UNWIND_RULE_TABLE_H_
#define KYMO_PROFILER_UNWIND_RULE_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/unwind/loaded_code.h"
#include "profiler/unwind/unwind_rule.h"

namespace kymo::unwind {

struct RuleSlot {
  std::atomic<uint64_t> key_and_rule;
  std::atomic<uint64_t> rule;
};

inline constexpr size_t kSlotsPerLine = 4;
inline constexpr int kLineBits = 14;  // 65536 slots, 1 MiB

struct alignas(64) RuleLine {
  RuleSlot slots[kSlotsPerLine];
};
extern constinit RuleLine rule_lines[size_t{1} << kLineBits];

inline RuleLine& LineOf(uint64_t key) noexcept {
  return rule_lines[(key * 0x9e3779b97f4a7c15u) >> (64 - kLineBits)];
}

// kMissing if it is not in the table. `identity` is that of the loaded file, 0
// where there is none.
inline UnwindRule FindRule(uint64_t pc, uint64_t identity) noexcept {
  const uint64_t key = pc + identity;
  for (const RuleSlot& slot : LineOf(key).slots) {
    const uint64_t rule = slot.rule.load(std::memory_order_relaxed);
    const uint64_t both = slot.key_and_rule.load(std::memory_order_relaxed);
    if ((both ^ rule) == key) return RuleOfWord(rule);
  }
  return {};
}

// What the unwind tables say, else whether `pc` is in the instruction of a
// call; also entered into the table. `code` is null where nothing is loaded.
UnwindRule ComputeRule(uint64_t pc, const LoadedCode* code) noexcept;

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_RULE_TABLE_H_
