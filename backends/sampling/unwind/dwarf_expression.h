// dwarf_expression.h - evaluates the DWARF expressions found in unwind tables.
//
// Compilers use them where a frame is not a constant distance away: linkage
// stubs (PLT), realigned stacks, signal trampolines. Memory is the copy of the
// stack, so an expression that reads elsewhere has no value.
//
// Hostile input is safe: the value stack and the number of steps are bounded.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_DWARF_EXPRESSION_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_DWARF_EXPRESSION_H_

#include <cstdint>
#include <optional>
#include <span>

#include "backends/sampling/unwind/registers.h"
#include "backends/sampling/unwind/stack_copy.h"

namespace kymo::sampling {

// One operation, its operands decoded; branches hold the index to go to.
struct ExpressionOp {
  uint8_t code = 0;  // DW_OP_*
  uint64_t first = 0;
  uint64_t second = 0;
};

// `cfa` is what DW_OP_call_frame_cfa pushes. Stores the address of a read that
// left the copy into `missed_address`.
std::optional<uint64_t> EvaluateExpression(
    std::span<const ExpressionOp> expression, const Registers& registers,
    const StackCopy& stack, uint64_t cfa, uint64_t* missed_address);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_DWARF_EXPRESSION_H_
