#include "backends/sampling/unwind/unwinder.h"

#include <algorithm>

namespace kymo::sampling {

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
                                   const StackCopy& copy) {
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
  // Only a signal handler's caller may lie lower, on another stack.
  if (cfa <= registers_[kRsp] && !rule.is_signal_frame) return Step::kNoRule;
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

Unwinder::Step Unwinder::FollowFramePointer(
    const symbolize::AddressSpace& space, const StackCopy& copy) {
  missed_address_ = 0;
  const uint64_t frame = registers_[kRbp];
  if (frame % 8 != 0 || frame < registers_[kRsp]) return Step::kNoRule;
  missed_address_ = frame;
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

void Unwinder::Unwind(const symbolize::AddressSpace& space,
                      const Registers& registers, const StackCopy& copy,
                      bool copy_was_cut, UnwoundStack* stack) {
  stack->frames.clear();
  stack->watched.clear();
  registers_ = registers;
  bool is_exact = true;  // rip is where the thread was, not a return address
  while (stack->frames.size() < kMaxFrames) {
    const uint64_t address = registers_[kRip] - (is_exact ? 0 : 1);
    const symbolize::CodePlace place = symbolize::PlaceOf(space, address);
    const bool is_watched = IsWatched(place);
    if (is_watched)
      stack->watched.push_back({stack->frames.size(), registers_});
    stack->frames.push_back(place);
    Step step = Step::kNoRule;
    is_exact = false;
    if (place.module != symbolize::ModuleTable::kUnknown) {
      const UnwindRule& rule = rules_.Find(place.module, place.address);
      if (rule.cfa_kind != CfaKind::kNoRule) {
        is_exact = rule.is_signal_frame;
        step = ApplyRule(rule, copy);
      } else if (modules_->module(place.module).IsEntryCode(place.address)) {
        step = Step::kEnd;
      }
    }
    if (step == Step::kNoRule) step = FollowFramePointer(space, copy);
    if (step == Step::kCaller) {
      if (is_watched) stack->watched.back().end = registers_[kRsp];
      continue;
    }
    stack->end = step == Step::kEnd ? StackEnd::kComplete
                                    : EndAfterMiss(copy, copy_was_cut);
    return;
  }
  stack->end = StackEnd::kTruncated;
}

}  // namespace kymo::sampling
