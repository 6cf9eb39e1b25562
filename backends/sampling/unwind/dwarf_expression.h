// dwarf_expression.h - evaluates the DWARF expressions found in unwind tables.
//
// Compilers use expressions where a frame is not a constant distance away: in
// linkage stubs (PLT), realigned stacks and signal trampolines. Memory is the
// copy of the stack, so an expression that reads elsewhere has no value.
//
// Hostile input is safe: the value stack and the number of steps are limited.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_DWARF_EXPRESSION_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_DWARF_EXPRESSION_H_

#include <cstdint>
#include <optional>
#include <span>

#include "backends/sampling/unwind/registers.h"
#include "backends/sampling/unwind/stack_copy.h"

namespace kymo::sampling {

// One operation with its operands decoded. Branches hold the index of their
// target.
struct ExpressionOp {
  uint8_t code = 0;  // DW_OP_*
  uint64_t first = 0;
  uint64_t second = 0;
};

// Returns the value, or nothing. DW_OP_call_frame_cfa pushes `cfa`. If a read
// is outside of the copy, its address is stored into `missed_address`.
std::optional<uint64_t> EvaluateExpression(
    std::span<const ExpressionOp> expression, const Registers& registers,
    const StackCopy& stack, uint64_t cfa, uint64_t* missed_address);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_DWARF_EXPRESSION_H_
