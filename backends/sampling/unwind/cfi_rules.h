// cfi_rules.h - call frame information as compact rules, looked up once.
//
//   RuleTable rules(modules);
//   const UnwindRule& rule = rules.Find(module, address);   // ns when seen
//
// A rule says how to find the caller's registers from the callee's. The first
// look-up of an address asks libdw (.eh_frame, else .debug_frame). The rule
// then serves its whole range of addresses, and a direct-mapped cache answers
// repeated addresses without a search.
//
// A greenlet, of which gevent's programs are made, has a part of its thread's
// stack. Above it lies what other greenlets left there, so its first function
// counts as one without a caller, whatever the table says. So do functions of
// Go's runtime that go on with another stack, such as runtime.systemstack.
//
// Where a module says nothing, the beginning of the function may tell how much
// of the stack it took. Such a rule is a guess, and needs a check.
//
// Threads: none. References are valid until the next Find.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_CFI_RULES_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_CFI_RULES_H_

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/sampling/unwind/dwarf_expression.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/function_extents.h"
#include "profiler/symbolize/stripped/go_functions.h"

namespace kymo::sampling {

enum class CfaKind : uint8_t {
  kNoRule,          // the module says nothing about this address
  kRegisterOffset,  // cfa = register + offset
  kExpression,      // cfa = the value of an expression
};

struct UnwindRule {
  CfaKind cfa_kind = CfaKind::kNoRule;
  uint8_t cfa_register = 0;
  uint8_t saved_count = 0;
  bool is_outermost = false;     // the return address is undefined: no caller
  bool is_signal_frame = false;  // its "caller" was interrupted, not calling
  bool is_guess = false;         // from the function's code (prologue.h)
  int32_t cfa_offset = 0;        // or the index of the expression
  uint32_t saved_begin = 0;
};

enum class SavedKind : uint8_t {
  kAtCfaOffset,      // the register is in memory at cfa + value
  kCfaOffset,        // the register is cfa + value
  kRegister,         // it is in register `value` of the callee
  kAtExpression,     // it is in memory, where expression `value` says
  kExpressionValue,  // it is the result of expression `value`
};

// Registers without an entry keep their value.
struct SavedRegister {
  uint8_t number = 0;
  SavedKind kind = SavedKind::kAtCfaOffset;
  int32_t value = 0;
};

class RuleTable {
 public:
  // `modules` is borrowed and may grow.
  explicit RuleTable(const symbolize::ModuleTable* modules);
  ~RuleTable();

  // The function at `address`, which is relative to the module.
  std::optional<symbolize::FunctionExtent> FunctionAround(
      symbolize::ModuleId module, uint64_t address);

  // `address` is relative to the module.
  const UnwindRule& Find(symbolize::ModuleId module, uint64_t address) {
    const uint64_t key = (uint64_t{module} << kAddressBits) | address;
    CacheSlot& slot = cache_[Hash(key)];
    if (slot.key != key) [[unlikely]] {
      slot = {key, FindUncached(module, address)};
    }
    return rules_[slot.rule];
  }
  std::span<const SavedRegister> saved(const UnwindRule& rule) const {
    return {saved_.data() + rule.saved_begin, rule.saved_count};
  }
  std::span<const ExpressionOp> expression(int32_t index) const {
    return expressions_[static_cast<size_t>(index)];
  }

 private:
  static constexpr int kAddressBits = 47;  // of user space
  static constexpr int kCacheBits = 14;

  struct CacheSlot {
    uint64_t key = ~uint64_t{0};
    uint32_t rule = 0;
  };
  struct Range {
    uint64_t end;
    uint32_t rule;
  };
  // The open tables of one module, and the rules known so far.
  struct ModuleRules {
    bool is_open = false;
    Dwarf_CFI* eh_frame = nullptr;
    Dwarf* dwarf = nullptr;  // owner of debug_frame
    Dwarf_CFI* debug_frame = nullptr;
    std::unique_ptr<symbolize::FunctionExtents> functions;  // null: not asked
    std::map<uint64_t, Range> ranges;                       // by first address
    std::unique_ptr<symbolize::GoFunctions> go;             // null: no image
    symbolize::FunctionExtent bottom;  // the code without a caller
  };

  static size_t Hash(uint64_t key) noexcept {
    return (key * 0x9e3779b97f4a7c15u) >> (64 - kCacheBits);
  }
  uint32_t FindUncached(symbolize::ModuleId module, uint64_t address);
  void OpenModule(symbolize::ModuleId module, ModuleRules& rules);
  uint32_t GuessRule(symbolize::ModuleId module, uint64_t address);
  uint32_t AddRule(Dwarf_Frame* frame, int return_register, bool is_signal);
  bool ReadCfa(Dwarf_Frame* frame, UnwindRule& rule);
  bool ReadRegister(Dwarf_Frame* frame, int number, bool is_return,
                    UnwindRule& rule);
  int32_t AddExpression(std::span<const Dwarf_Op> ops);

  const symbolize::ModuleTable* modules_;
  std::vector<CacheSlot> cache_;
  std::vector<ModuleRules> by_module_;
  std::vector<UnwindRule> rules_;  // [0] is kNoRule
  std::vector<SavedRegister> saved_;
  std::vector<std::vector<ExpressionOp>> expressions_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_CFI_RULES_H_
