#include "backends/sampling/unwind/cfi_rules.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "backends/sampling/unwind/prologue.h"
#include "profiler/symbolize/stripped/elf_section.h"
#include "profiler/symbolize/stripped/go_functions.h"

namespace kymo::sampling {
namespace {

// Where the library of greenlets runs one: its symbol begins with this.
constexpr char kGreenletLibrary[] = "_greenlet.";
constexpr char kGreenletBottom[] =
    "_ZN8greenlet12UserGreenlet15inner_bootstrap";

// Empty if there is no such function.
symbolize::FunctionExtent FindFunction(Elf* elf, std::string_view prefix) {
  for (Elf_Scn* section = nullptr;
       (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type != SHT_DYNSYM || header.sh_entsize == 0) continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    const size_t count = header.sh_size / header.sh_entsize;
    GElf_Sym symbol;
    for (size_t i = 0; i < count; ++i) {
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name != nullptr && std::string_view(name).starts_with(prefix)) {
        return {symbol.st_value, symbol.st_value + symbol.st_size};
      }
    }
  }
  return {};
}

// Go's functions that go on with another stack: what lies above them there was
// left by others.
bool SwitchesStackOfGo(std::string_view function) {
  constexpr std::string_view kNames[] = {"runtime.asmcgocall", "runtime.mcall",
                                         "runtime.morestack",
                                         "runtime.systemstack"};
  constexpr std::string_view kAbi = ".abi0";
  if (function.ends_with(kAbi)) function.remove_suffix(kAbi.size());
  return std::ranges::count(kNames, function) > 0;
}

bool FitsOffset(uint64_t value) {
  const auto number = static_cast<int64_t>(value);
  return number == static_cast<int32_t>(number);
}

// [call_frame_cfa] or [call_frame_cfa, plus_uconst n]: cfa + n.
bool IsCfaOffset(std::span<const Dwarf_Op> ops, int32_t* offset) {
  if (ops.empty() || ops[0].atom != DW_OP_call_frame_cfa) return false;
  if (ops.size() == 1) {
    *offset = 0;
    return true;
  }
  if (ops.size() != 2 || ops[1].atom != DW_OP_plus_uconst) return false;
  *offset = static_cast<int32_t>(ops[1].number);
  return FitsOffset(ops[1].number);
}

}  // namespace

RuleTable::RuleTable(const symbolize::ModuleTable* modules)
    : modules_(modules), cache_(size_t{1} << kCacheBits), rules_(1) {}

RuleTable::~RuleTable() {
  for (const ModuleRules& rules : by_module_) {
    if (rules.eh_frame != nullptr) dwarf_cfi_end(rules.eh_frame);
    if (rules.dwarf != nullptr) dwarf_end(rules.dwarf);
  }
}

void RuleTable::OpenModule(symbolize::ModuleId module, ModuleRules& rules) {
  rules.is_open = true;
  Elf* const elf = modules_->module(module).elf();
  if (elf == nullptr) return;
  if (modules_->module(module).short_name().starts_with(kGreenletLibrary)) {
    rules.bottom = FindFunction(elf, kGreenletBottom);
  }
  rules.go = std::make_unique<symbolize::GoFunctions>(elf);
  rules.eh_frame = dwarf_getcfi_elf(elf);
  if (!symbolize::FindElfSection(elf, ".debug_frame")) return;
  rules.dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  if (rules.dwarf != nullptr) rules.debug_frame = dwarf_getcfi(rules.dwarf);
}

uint32_t RuleTable::FindUncached(symbolize::ModuleId module, uint64_t address) {
  if (modules_->module(module).is_386()) return 0;  // other registers
  if (module >= by_module_.size()) by_module_.resize(module + 1);
  ModuleRules& rules = by_module_[module];
  if (!rules.is_open) OpenModule(module, rules);
  const auto after = rules.ranges.upper_bound(address);
  if (after != rules.ranges.begin()) {
    const Range& range = std::prev(after)->second;
    if (address < range.end) return range.rule;
  }
  if (rules.go != nullptr && SwitchesStackOfGo(rules.go->Find(address))) {
    rules_.push_back(
        {.cfa_kind = CfaKind::kRegisterOffset, .is_outermost = true});
    const auto rule = static_cast<uint32_t>(rules_.size() - 1);
    rules.ranges[address] = {address + 1, rule};
    return rule;
  }
  for (Dwarf_CFI* const cfi : {rules.eh_frame, rules.debug_frame}) {
    Dwarf_Frame* frame = nullptr;
    if (cfi == nullptr || dwarf_cfi_addrframe(cfi, address, &frame) != 0) {
      continue;
    }
    Dwarf_Addr start = address, end = address + 1;
    bool is_signal = false;
    const int return_register =
        dwarf_frame_info(frame, &start, &end, &is_signal);
    const uint32_t rule = AddRule(frame, return_register, is_signal);
    std::free(frame);
    if (rule != 0 && address >= rules.bottom.begin &&
        address < rules.bottom.end) {
      rules_[rule].is_outermost = true;
    }
    if (address < start || address >= end) return rule;
    rules.ranges[start] = {end, rule};
    return rule;
  }
  return GuessRule(module, address);
}

std::optional<symbolize::FunctionExtent> RuleTable::FunctionAround(
    symbolize::ModuleId module, uint64_t address) {
  if (module >= by_module_.size()) by_module_.resize(module + 1);
  auto& functions = by_module_[module].functions;
  if (functions == nullptr) {
    functions = std::make_unique<symbolize::FunctionExtents>(
        modules_->module(module).elf());
  }
  return functions->Around(address);
}

uint32_t RuleTable::GuessRule(symbolize::ModuleId module, uint64_t address) {
  const auto function = FunctionAround(module, address);
  if (!function) return 0;
  std::array<std::byte, kMostPrologueBytes> code;
  const size_t size =
      std::min<uint64_t>(code.size(), function->end - function->begin);
  const std::span<std::byte> bytes(code.data(), size);
  if (!modules_->module(module).ReadCode(function->begin, bytes)) return 0;
  const Prologue prologue = ReadPrologue(bytes, address - function->begin);
  if (!prologue.is_usable) return 0;
  // The function may have a table elsewhere: that of clone3 has a gap.
  const bool is_in_gap =
      address != function->begin &&
      !rules_[FindUncached(module, function->begin)].is_guess;

  UnwindRule rule;
  rule.is_guess = true;
  rule.cfa_kind = CfaKind::kRegisterOffset;
  const bool by_frame_pointer = prologue.taken_at_frame_pointer != 0;
  rule.cfa_register = by_frame_pointer ? kRbp : kRsp;
  rule.cfa_offset =
      static_cast<int32_t>(by_frame_pointer ? prologue.taken_at_frame_pointer
                                            : prologue.taken_bytes) +
      8;
  rule.saved_begin = static_cast<uint32_t>(saved_.size());
  for (const Prologue::Saved& saved : prologue.saved) {
    saved_.push_back({.number = saved.number, .value = saved.cfa_offset});
  }
  saved_.push_back({.number = kRip, .value = -8});
  rule.saved_count = static_cast<uint8_t>(saved_.size() - rule.saved_begin);
  rules_.push_back(rule);
  const auto number = static_cast<uint32_t>(rules_.size() - 1);
  auto& ranges = by_module_[module].ranges;
  if (prologue.is_over && !is_in_gap) {
    ranges[function->begin + prologue.size_bytes] = {function->end, number};
  } else {
    ranges[address] = {address + 1, number};
  }
  return number;
}

uint32_t RuleTable::AddRule(Dwarf_Frame* frame, int return_register,
                            bool is_signal) {
  UnwindRule rule;
  rule.is_signal_frame = is_signal;
  rule.saved_begin = static_cast<uint32_t>(saved_.size());
  bool usable = return_register == kRip && ReadCfa(frame, rule);
  for (int number = 0; usable && number < kRegisterCount; ++number) {
    usable = ReadRegister(frame, number, number == return_register, rule);
  }
  if (!usable) {
    saved_.resize(rule.saved_begin);
    return 0;
  }
  rules_.push_back(rule);
  return static_cast<uint32_t>(rules_.size() - 1);
}

bool RuleTable::ReadCfa(Dwarf_Frame* frame, UnwindRule& rule) {
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0) return false;
  const uint8_t code = ops[0].atom;
  const bool is_indexed = code == DW_OP_bregx;
  const bool is_register =
      count == 1 &&
      (is_indexed || (code >= DW_OP_breg0 && code <= DW_OP_breg31));
  const uint64_t number = is_indexed ? ops[0].number : code - DW_OP_breg0;
  const uint64_t offset = is_indexed ? ops[0].number2 : ops[0].number;
  if (is_register && number < kRegisterCount && FitsOffset(offset)) {
    rule.cfa_kind = CfaKind::kRegisterOffset;
    rule.cfa_register = static_cast<uint8_t>(number);
    rule.cfa_offset = static_cast<int32_t>(offset);
  } else {
    rule.cfa_kind = CfaKind::kExpression;
    rule.cfa_offset = AddExpression({ops, count});
  }
  return true;
}

bool RuleTable::ReadRegister(Dwarf_Frame* frame, int number, bool is_return,
                             UnwindRule& rule) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0) {
    return false;
  }
  if (count == 0) {
    // libdw: ops == memory means "undefined", null means "the same value".
    if (is_return) rule.is_outermost = ops == memory;
    return !is_return || rule.is_outermost;
  }
  SavedRegister saved{.number = static_cast<uint8_t>(number)};
  const std::span<const Dwarf_Op> all(ops, count);
  const bool is_value = all.back().atom == DW_OP_stack_value;
  const auto place = is_value ? all.first(count - 1) : all;
  if (IsCfaOffset(place, &saved.value)) {
    saved.kind = is_value ? SavedKind::kCfaOffset : SavedKind::kAtCfaOffset;
  } else if (count == 1 && ops[0].atom == DW_OP_regx) {
    saved.kind = SavedKind::kRegister;
    saved.value = static_cast<int32_t>(ops[0].number);
  } else if (count == 1 && ops[0].atom >= DW_OP_reg0 &&
             ops[0].atom <= DW_OP_reg31) {
    saved.kind = SavedKind::kRegister;
    saved.value = ops[0].atom - DW_OP_reg0;
  } else {
    saved.kind =
        is_value ? SavedKind::kExpressionValue : SavedKind::kAtExpression;
    saved.value = AddExpression(place);
  }
  saved_.push_back(saved);
  ++rule.saved_count;
  return true;
}

int32_t RuleTable::AddExpression(std::span<const Dwarf_Op> ops) {
  std::vector<ExpressionOp> expression;
  for (const Dwarf_Op& op : ops) {
    ExpressionOp copy{op.atom, op.number, op.number2};
    if (op.atom == DW_OP_skip || op.atom == DW_OP_bra) {
      // A branch takes 3 bytes itself. A target in the middle of an operation
      // counts as the next operation; a target outside ends the expression.
      const uint64_t target =
          op.offset + 3 +
          static_cast<uint64_t>(int64_t{static_cast<int16_t>(op.number)});
      size_t index = 0;
      while (index < ops.size() && (ops[index].offset == ~Dwarf_Word{0} ||
                                    ops[index].offset < target)) {
        ++index;
      }
      copy.first = index;
    }
    expression.push_back(copy);
  }
  expressions_.push_back(std::move(expression));
  return static_cast<int32_t>(expressions_.size() - 1);
}

}  // namespace kymo::sampling
