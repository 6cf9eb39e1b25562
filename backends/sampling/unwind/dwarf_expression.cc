#include "backends/sampling/unwind/dwarf_expression.h"

#include <dwarf.h>

#include <array>

namespace kymo::sampling {
namespace {

constexpr int kMaxDepth = 64;
constexpr int kMaxSteps = 1000;

class Machine {
 public:
  Machine(const Registers& registers, const StackCopy& stack, uint64_t cfa)
      : registers_(registers), stack_(stack), cfa_(cfa) {}

  // Executes `op`; `next` is the index of the following one and may change.
  bool Execute(const ExpressionOp& op, size_t* next) noexcept;

  std::optional<uint64_t> Top() const noexcept {
    if (depth_ == 0) return std::nullopt;
    return values_[depth_ - 1];
  }
  uint64_t missed_address() const noexcept { return missed_address_; }

 private:
  bool Push(uint64_t value) noexcept {
    if (depth_ == kMaxDepth) return false;
    values_[depth_++] = value;
    return true;
  }
  bool PushRegister(uint64_t number, uint64_t offset) noexcept {
    return number < kRegisterCount && Push(registers_[number] + offset);
  }
  bool Pick(uint64_t from_top) noexcept {
    return from_top < static_cast<uint64_t>(depth_) &&
           Push(values_[depth_ - 1 - from_top]);
  }
  bool Dereference(uint64_t size_bytes) noexcept;
  bool Rearrange(uint8_t code) noexcept;
  bool Unary(const ExpressionOp& op) noexcept;
  bool Binary(uint8_t code) noexcept;

  const Registers& registers_;
  const StackCopy& stack_;
  const uint64_t cfa_;
  std::array<uint64_t, kMaxDepth> values_;
  int depth_ = 0;
  uint64_t missed_address_ = 0;
};

bool Machine::Dereference(uint64_t size_bytes) noexcept {
  if (depth_ == 0 || size_bytes == 0 || size_bytes > 8) return false;
  const uint64_t address = values_[depth_ - 1];
  const auto value = stack_.Read(address);
  if (!value) {
    missed_address_ = address;
    return false;
  }
  const uint64_t unused_bits = 64 - 8 * size_bytes;
  values_[depth_ - 1] = *value << unused_bits >> unused_bits;
  return true;
}

bool Machine::Rearrange(uint8_t code) noexcept {
  const int needed = code == DW_OP_rot ? 3 : code == DW_OP_swap ? 2 : 1;
  if (depth_ < needed) return false;
  uint64_t* const top = &values_[depth_ - 1];
  if (code == DW_OP_drop) {
    --depth_;
  } else if (code == DW_OP_swap) {
    std::swap(top[0], top[-1]);
  } else {  // DW_OP_rot: the top goes below the next two
    const uint64_t was = top[0];
    top[0] = top[-1];
    top[-1] = top[-2];
    top[-2] = was;
  }
  return true;
}

bool Machine::Unary(const ExpressionOp& op) noexcept {
  if (depth_ == 0) return false;
  uint64_t& top = values_[depth_ - 1];
  switch (op.code) {
    case DW_OP_abs:
      if (static_cast<int64_t>(top) < 0) top = 0 - top;
      return true;
    case DW_OP_neg:
      top = 0 - top;
      return true;
    case DW_OP_not:
      top = ~top;
      return true;
    case DW_OP_plus_uconst:
      top += op.first;
      return true;
    default:
      return false;
  }
}

bool Machine::Binary(uint8_t code) noexcept {
  if (depth_ < 2) return false;
  const uint64_t b = values_[--depth_];
  uint64_t& a = values_[depth_ - 1];
  const auto signed_a = static_cast<int64_t>(a);
  const auto signed_b = static_cast<int64_t>(b);
  switch (code) {
    case DW_OP_and:
      a &= b;
      return true;
    case DW_OP_or:
      a |= b;
      return true;
    case DW_OP_xor:
      a ^= b;
      return true;
    case DW_OP_plus:
      a += b;
      return true;
    case DW_OP_minus:
      a -= b;
      return true;
    case DW_OP_mul:
      a *= b;
      return true;
    case DW_OP_shl:
      a = b < 64 ? a << b : 0;
      return true;
    case DW_OP_shr:
      a = b < 64 ? a >> b : 0;
      return true;
    case DW_OP_shra:
      a = static_cast<uint64_t>(signed_a >> (b < 64 ? b : 63));
      return true;
    case DW_OP_div:
      if (b == 0 || (signed_b == -1 && signed_a == INT64_MIN)) return false;
      a = static_cast<uint64_t>(signed_a / signed_b);
      return true;
    case DW_OP_mod:
      if (b == 0) return false;
      a %= b;
      return true;
    case DW_OP_eq:
      a = a == b;
      return true;
    case DW_OP_ne:
      a = a != b;
      return true;
    case DW_OP_ge:
      a = signed_a >= signed_b;
      return true;
    case DW_OP_gt:
      a = signed_a > signed_b;
      return true;
    case DW_OP_le:
      a = signed_a <= signed_b;
      return true;
    case DW_OP_lt:
      a = signed_a < signed_b;
      return true;
    default:
      return false;
  }
}

bool Machine::Execute(const ExpressionOp& op, size_t* next) noexcept {
  if (op.code >= DW_OP_lit0 && op.code <= DW_OP_lit31) {
    return Push(op.code - DW_OP_lit0);
  }
  if (op.code >= DW_OP_breg0 && op.code <= DW_OP_breg31) {
    return PushRegister(op.code - DW_OP_breg0, op.first);
  }
  switch (op.code) {
    case DW_OP_addr:
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
      return Push(op.first);
    case DW_OP_bregx:
      return PushRegister(op.first, op.second);
    case DW_OP_call_frame_cfa:
      return Push(cfa_);
    case DW_OP_dup:
      return Pick(0);
    case DW_OP_over:
      return Pick(1);
    case DW_OP_pick:
      return Pick(op.first);
    case DW_OP_drop:
    case DW_OP_swap:
    case DW_OP_rot:
      return Rearrange(op.code);
    case DW_OP_deref:
      return Dereference(8);
    case DW_OP_deref_size:
      return Dereference(op.first);
    case DW_OP_abs:
    case DW_OP_neg:
    case DW_OP_not:
    case DW_OP_plus_uconst:
      return Unary(op);
    case DW_OP_skip:
      *next = op.first;
      return true;
    case DW_OP_bra:
      if (depth_ == 0) return false;
      if (values_[--depth_] != 0) *next = op.first;
      return true;
    case DW_OP_nop:
    case DW_OP_stack_value:
      return true;
    default:
      return Binary(op.code);
  }
}

}  // namespace

std::optional<uint64_t> EvaluateExpression(
    std::span<const ExpressionOp> expression, const Registers& registers,
    const StackCopy& stack, uint64_t cfa, uint64_t* missed_address) {
  Machine machine(registers, stack, cfa);
  size_t next = 0;
  for (int step = 0; next < expression.size(); ++step) {
    const ExpressionOp& op = expression[next++];
    if (step == kMaxSteps || !machine.Execute(op, &next)) {
      *missed_address = machine.missed_address();
      return std::nullopt;
    }
  }
  return machine.Top();
}

}  // namespace kymo::sampling
