#include "backends/sampling/unwind/unwinder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "backends/sampling/unwind/prologue.h"

namespace kymo::sampling {
namespace {

// Of a stack, for a return address: few functions take more.
constexpr uint64_t kMostSearched = 8 << 10;

using CallCode = std::array<std::byte, kMostCallBytes>;

// Reads the code that ends at the return address `caller`.
bool ReadCodeBefore(const symbolize::ModuleTable& modules,
                    const symbolize::CodePlace& caller, CallCode& code) {
  return caller.module != symbolize::ModuleTable::kUnknown &&
         modules.module(caller.module)
             .ReadCode(caller.address - code.size(), code);
}

// The call that ends at the return address `caller`.
std::optional<CallBefore> CallBeforePlace(const symbolize::ModuleTable& modules,
                                          const symbolize::CodePlace& caller) {
  CallCode code;
  if (!ReadCodeBefore(modules, caller, code)) return std::nullopt;
  return FindCallBefore(code);
}

// The function that a direct call at `caller` calls.
uint64_t TargetOf(const CallBefore& call, const symbolize::CodePlace& caller) {
  return caller.address + static_cast<uint64_t>(int64_t{*call.distance});
}

}  // namespace

std::optional<uint64_t> Unwinder::Read(const StackCopy& copy,
                                       uint64_t address) {
  const auto value = copy.Read(address);
  if (!value) missed_address_ = address;
  return value;
}

std::optional<uint64_t> Unwinder::Restore(const SavedRegister& saved,
                                          uint64_t cfa, const StackCopy& copy) {
  const auto offset = static_cast<uint64_t>(int64_t{saved.value});
  switch (saved.kind) {
    case SavedKind::kAtCfaOffset:
      return Read(copy, cfa + offset);
    case SavedKind::kCfaOffset:
      return cfa + offset;
    case SavedKind::kRegister:
      if (saved.value < 0 || saved.value >= kRegisterCount) break;
      return registers_[static_cast<size_t>(saved.value)];
    case SavedKind::kAtExpression:
    case SavedKind::kExpressionValue: {
      const auto value =
          EvaluateExpression(rules_.expression(saved.value), registers_, copy,
                             cfa, &missed_address_);
      if (!value || saved.kind == SavedKind::kExpressionValue) return value;
      return Read(copy, *value);
    }
  }
  return std::nullopt;
}

Unwinder::Step Unwinder::ApplyRule(const UnwindRule& rule,
                                   const StackCopy& copy, bool is_exact) {
  if (rule.is_outermost) return Step::kEnd;
  missed_address_ = 0;
  uint64_t cfa;
  if (rule.cfa_kind == CfaKind::kRegisterOffset) {
    cfa = registers_[rule.cfa_register] +
          static_cast<uint64_t>(int64_t{rule.cfa_offset});
  } else {
    const auto value =
        EvaluateExpression(rules_.expression(rule.cfa_offset), registers_, copy,
                           /*cfa=*/0, &missed_address_);
    if (!value) return Step::kMissedMemory;
    cfa = *value;
  }
  // Only a signal handler's caller may lie lower, on another stack. It lies at
  // the same place if the function has taken its return address from the stack,
  // as vfork does. Such a function can have called nothing.
  const uint64_t stack_pointer = registers_[kRsp];
  const bool is_lower =
      cfa < stack_pointer || (cfa == stack_pointer && !is_exact);
  if (is_lower && !rule.is_signal_frame) return Step::kNoRule;
  Registers caller = registers_;
  caller[kRsp] = cfa;
  for (const SavedRegister& saved : rules_.saved(rule)) {
    const auto value = Restore(saved, cfa, copy);
    if (value) {
      caller[saved.number] = *value;
    } else if (saved.number == kRip || missed_address_ >= copy.base) {
      return Step::kMissedMemory;
    }
    // Else the register was saved below the stack pointer: the end of the
    // function has popped it already, and the compiler's table does not say so.
    // It has its value.
  }
  registers_ = caller;
  return registers_[kRip] == 0 ? Step::kEnd : Step::kCaller;
}

Unwinder::Step Unwinder::PopReturnAddress(uint64_t bytes,
                                          const StackCopy& copy) {
  const uint64_t end = registers_[kRsp] + bytes;
  const auto return_address = Read(copy, end - 8);
  if (!return_address) return Step::kMissedMemory;
  registers_[kRsp] = end;
  registers_[kRip] = *return_address;
  return Step::kCaller;
}

Unwinder::Step Unwinder::FollowFramePointer(
    const symbolize::AddressSpace& space, const StackCopy& copy) {
  missed_address_ = 0;
  const uint64_t frame = registers_[kRbp];
  if (frame % 8 != 0 || frame < registers_[kRsp]) return Step::kNoRule;
  missed_address_ = frame + 8;  // both words are needed
  const auto link = copy.Read(frame);
  const auto return_address = copy.Read(frame + 8);
  if (!link || !return_address) return Step::kNoRule;
  if (space.Find(*return_address) == nullptr) return Step::kNoRule;
  registers_[kRsp] = frame + 16;
  registers_[kRbp] = *link;
  registers_[kRip] = *return_address;
  return Step::kCaller;
}

StackEnd Unwinder::EndAfterMiss(const StackCopy& copy,
                                bool copy_was_cut) const {
  return copy_was_cut && copy.IsBeyond(missed_address_) ? StackEnd::kTruncated
                                                        : StackEnd::kIncomplete;
}

void Unwinder::Watch(symbolize::ModuleId module, uint64_t begin, uint64_t end) {
  watched_.push_back({module, begin, end});
}

bool Unwinder::IsWatched(const symbolize::CodePlace& place) const {
  return std::any_of(
      watched_.begin(), watched_.end(), [&](const WatchedCode& code) {
        return place.module == code.module && place.address >= code.begin &&
               place.address < code.end;
      });
}

// Whether the instruction before the return address in registers_ may have
// called the function at `place`.
bool Unwinder::HasCalled(const symbolize::CodePlace& place,
                         const symbolize::AddressSpace& space,
                         bool took_nothing) {
  const symbolize::CodePlace caller =
      symbolize::PlaceOf(space, registers_[kRip]);
  const auto call = CallBeforePlace(*modules_, caller);
  if (!call) return false;
  // Any old return address may lie where the stack pointer points. So it must
  // not be of a call of another function.
  if (!took_nothing || !call->distance) return true;
  const uint64_t target = TargetOf(*call, caller);
  const auto called = rules_.FunctionAround(caller.module, target);
  return !called || called->begin != target ||
         (caller.module == place.module && place.address >= called->begin &&
          place.address < called->end);
}

// Where on the stack the return address stands to which the function at `place`
// returns, if a direct call in the same module is before it.
std::optional<uint64_t> Unwinder::FindCallOf(
    const symbolize::CodePlace& place, const symbolize::AddressSpace& space,
    const StackCopy& copy) {
  const auto function = rules_.FunctionAround(place.module, place.address);
  if (!function) return std::nullopt;
  for (uint64_t at = registers_[kRsp]; at < registers_[kRsp] + kMostSearched;
       at += 8) {
    const auto word = copy.Read(at);
    if (!word) break;
    const symbolize::CodePlace caller = symbolize::PlaceOf(space, *word);
    if (caller.module != place.module) continue;
    const auto call = CallBeforePlace(*modules_, caller);
    if (call && call->distance && TargetOf(*call, caller) == function->begin) {
      return at;
    }
  }
  return std::nullopt;
}

// A rule of a table. If it counts from a register that cannot be what the
// function had there, it counts from where the function was called.
Unwinder::Step Unwinder::ApplyTableRule(const UnwindRule& rule,
                                        const symbolize::CodePlace& place,
                                        const symbolize::AddressSpace& space,
                                        const StackCopy& copy, bool is_exact) {
  const Step step = ApplyRule(rule, copy, is_exact);
  if (step != Step::kNoRule || rule.cfa_kind != CfaKind::kRegisterOffset ||
      rule.cfa_register == kRsp) {
    return step;
  }
  const auto return_address = FindCallOf(place, space, copy);
  if (!return_address) return step;
  registers_[rule.cfa_register] =
      *return_address + 8 - static_cast<uint64_t>(int64_t{rule.cfa_offset});
  return ApplyRule(rule, copy, is_exact);
}

Unwinder::Step Unwinder::ApplyGuess(const UnwindRule& rule,
                                    const symbolize::CodePlace& place,
                                    const symbolize::AddressSpace& space,
                                    const StackCopy& copy, bool is_innermost) {
  const bool took_nothing = rule.cfa_register == kRsp && rule.cfa_offset == 8;
  // Whoever calls takes something, or its beginning was not understood.
  if (took_nothing && !is_innermost) return Step::kNoRule;
  const Registers before = registers_;
  if (ApplyRule(rule, copy, /*is_exact=*/false) == Step::kCaller &&
      HasCalled(place, space, took_nothing)) {
    return Step::kCaller;
  }
  registers_ = before;
  return Step::kNoRule;
}

bool Unwinder::HasTable(symbolize::ModuleId module, uint64_t address) {
  const UnwindRule& rule = rules_.Find(module, address);
  return rule.cfa_kind != CfaKind::kNoRule && !rule.is_guess;
}

// Whether the thread has just begun at `place`: behind the system call that
// made it. The tables of clone and clone3 end just before that call, because
// the new thread has no caller. Whoever called clone has one, on its stack.
bool Unwinder::HasJustBegun(const symbolize::CodePlace& place,
                            const StackCopy& copy) {
  constexpr std::array kSystemCall = {std::byte{0x0f}, std::byte{0x05}};
  if (place.module == symbolize::ModuleTable::kUnknown ||
      !copy.Read(registers_[kRsp])) {
    return false;
  }
  const uint64_t call = place.address - kSystemCall.size();
  std::array<std::byte, kSystemCall.size()> code;
  return modules_->module(place.module).ReadCode(call, code) &&
         code == kSystemCall && !HasTable(place.module, place.address) &&
         !HasTable(place.module, call) && HasTable(place.module, call - 1);
}

// Whether nothing has called from `place`: its code has no call there. Such a
// return address is what makecontext(3) and Boost.Context give to the first
// function of a coroutine. It leads to code that ends the coroutine.
bool Unwinder::HasNotCalled(const symbolize::CodePlace& place) const {
  CallCode code;
  return ReadCodeBefore(*modules_, {place.module, place.address + 1}, code) &&
         !FindCallBefore(code);
}

Unwinder::Step Unwinder::ApplyTable(const symbolize::CodePlace& place,
                                    const symbolize::AddressSpace& space,
                                    const StackCopy& copy, bool* is_exact,
                                    bool* has_table) {
  const bool was_exact = std::exchange(*is_exact, false);
  if (place.module == symbolize::ModuleTable::kUnknown) return Step::kNoRule;
  const symbolize::ElfModule& module = modules_->module(place.module);
  const UnwindRule rule = rules_.Find(place.module, place.address);
  *has_table = true;
  if (rule.cfa_kind != CfaKind::kNoRule && !rule.is_guess) {
    *is_exact = rule.is_signal_frame;
    return ApplyTableRule(rule, place, space, copy, was_exact);
  }
  if (module.IsEntryCode(place.address)) return Step::kEnd;
  if (const uint64_t bytes = module.InitCodeStackBytes(place.address)) {
    return PopReturnAddress(bytes, copy);
  }
  *has_table = false;
  if (!rule.is_guess) return Step::kNoRule;
  return ApplyGuess(rule, place, space, copy, was_exact);
}

void Unwinder::Unwind(const symbolize::AddressSpace& space,
                      const Registers& registers, const StackCopy& copy,
                      bool copy_was_cut, UnwoundStack* stack) {
  stack->frames.clear();
  stack->watched.clear();
  stack->at.clear();
  stack->is_joined = false;
  stack->missed = 0;
  stack->is_on_other_stack = false;
  registers_ = registers;
  bool is_in_chain = false;  // the frame before was left by its frame pointer
  bool is_exact = true;  // rip is where the thread was, not a return address
  while (stack->frames.size() < kMaxFrames) {
    const uint64_t address = registers_[kRip] - (is_exact ? 0 : 1);
    const symbolize::CodePlace place = symbolize::PlaceOf(space, address);
    const bool is_watched = IsWatched(place);
    if (is_watched)
      stack->watched.push_back({stack->frames.size(), registers_});
    stack->frames.push_back(place);
    stack->at.push_back({registers_[kRsp], registers_[kRip]});
    bool has_table = false;
    const bool is_return_address = !is_exact && !is_in_chain;
    const bool is_innermost = stack->frames.size() == 1;
    Step step = ApplyTable(place, space, copy, &is_exact, &has_table);
    has_table = has_table && step != Step::kNoRule;
    if (step == Step::kNoRule && is_in_chain && registers_[kRbp] == 0) {
      step = Step::kEnd;
    }
    if (step == Step::kNoRule && is_return_address && HasNotCalled(place)) {
      stack->frames.pop_back();
      stack->at.pop_back();
      if (is_watched) stack->watched.pop_back();
      step = Step::kEnd;
    }
    if (step == Step::kNoRule) step = FollowFramePointer(space, copy);
    if (step == Step::kNoRule && is_innermost && HasJustBegun(place, copy)) {
      step = Step::kEnd;
    }
    is_in_chain = !has_table;
    if (step == Step::kCaller) {
      // Behind a signal handler.
      if (is_exact && !copy.IsNear(registers_[kRsp])) {
        stack->is_on_other_stack = true;
      }
      if (is_watched) stack->watched.back().end = registers_[kRsp];
      continue;
    }
    if (step == Step::kEnd) {
      stack->end = StackEnd::kComplete;
      return;
    }
    stack->end = EndAfterMiss(copy, copy_was_cut);
    // Without a rule, the address may be anything.
    if (step != Step::kMissedMemory) return;
    if (stack->is_on_other_stack) {
      stack->missed = registers_[kRsp];
    } else if (copy.IsBeyond(missed_address_)) {
      stack->missed = missed_address_;
    }
    return;
  }
  stack->end = StackEnd::kTruncated;
}

}  // namespace kymo::sampling
