// rule_table.h - the unwind rules of all code addresses that were on a stack.
//
//   UnwindRule rule = FindRule(pc, identity);   // a few ns for a known address
//   if (rule.kind == RuleKind::kMissing) rule = ComputeRule(pc, code);
//
// The process has one table of fixed size, in zeroed static memory: it needs no
// set-up and takes only the pages that are used. Four slots of two words make
// one cache line. An address may be in any slot of its line:
//
//   slot = { key ^ rule, rule }          key = pc + identity of its file
//
// Invariants:
// 1. A slot answers only for the key that its two words give together. Words
//    of two writers, or of none, give a key that nobody looks up. So any number
//    of threads and signal handlers read and write both words with relaxed
//    order.
// 2. A rule is a function of its key. When another file takes the addresses of
//    an unloaded one, `identity` changes, and the rules of the first file are
//    not found any more. So the table needs no notice of loading or unloading.
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

// kMissing if the table does not have the rule. `identity` is that of the
// loaded file, or 0 if there is none.
inline UnwindRule FindRule(uint64_t pc, uint64_t identity) noexcept {
  const uint64_t key = pc + identity;
  for (const RuleSlot& slot : LineOf(key).slots) {
    const uint64_t rule = slot.rule.load(std::memory_order_relaxed);
    const uint64_t both = slot.key_and_rule.load(std::memory_order_relaxed);
    if ((both ^ rule) == key) return RuleOfWord(rule);
  }
  return {};
}

// Computes the rule and enters it into the table. The rule comes from the
// unwind tables; without one, it depends on whether `pc` is in a call
// instruction. `code` is null if nothing is loaded there.
UnwindRule ComputeRule(uint64_t pc, const LoadedCode* code) noexcept;

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_RULE_TABLE_H_
