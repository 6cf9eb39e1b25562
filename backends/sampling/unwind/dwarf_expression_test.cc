#include "backends/sampling/unwind/dwarf_expression.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace kymo::sampling {
namespace {

class DwarfExpressionTest : public ::testing::Test {
 protected:
  DwarfExpressionTest() {
    for (size_t i = 0; i < kRegisterCount; ++i) registers_[i] = 1000 * i;
    memory_.resize(64);
    for (uint64_t i = 0; i < 8; ++i) {
      const uint64_t value = 0x1111111111111111 * i;
      std::memcpy(memory_.data() + 8 * i, &value, sizeof(value));
    }
  }
  std::optional<uint64_t> Evaluate(std::vector<ExpressionOp> expression) {
    return EvaluateExpression(expression, registers_, {5000, memory_},
                              /*cfa=*/7777, &missed_);
  }

  Registers registers_{};
  std::vector<std::byte> memory_;
  uint64_t missed_ = 0;
};

TEST_F(DwarfExpressionTest, ComputesTheFrameOfALinkageStub) {
  // rsp + 8 + ((rip & 15) >= 11) * 8, as linkers write it for PLT stubs.
  const std::vector<ExpressionOp> plt = {
      {DW_OP_breg7, 8}, {DW_OP_breg16, 0}, {DW_OP_lit15},
      {DW_OP_and},      {DW_OP_lit11},     {DW_OP_ge},
      {DW_OP_lit3},     {DW_OP_shl},       {DW_OP_plus}};
  registers_[kRip] = 0x401020;
  EXPECT_EQ(Evaluate(plt), 7008u);
  registers_[kRip] = 0x40102b;
  EXPECT_EQ(Evaluate(plt), 7016u);
}

TEST_F(DwarfExpressionTest, ReadsTheStack) {
  EXPECT_EQ(Evaluate({{DW_OP_constu, 5008}, {DW_OP_deref}}),
            0x1111111111111111u);
  EXPECT_EQ(Evaluate({{DW_OP_constu, 5016}, {DW_OP_deref_size, 2}}), 0x2222u);
  EXPECT_EQ(Evaluate({{DW_OP_call_frame_cfa}}), 7777u);
}

TEST_F(DwarfExpressionTest, SaysWhichAddressWasMissing) {
  EXPECT_EQ(Evaluate({{DW_OP_constu, 5060}, {DW_OP_deref}}), std::nullopt);
  EXPECT_EQ(missed_, 5060u);
}

TEST_F(DwarfExpressionTest, ArithmeticIsSigned) {
  const auto minus = [](int64_t n) { return static_cast<uint64_t>(-n); };
  EXPECT_EQ(Evaluate({{DW_OP_consts, minus(9)}, {DW_OP_lit2}, {DW_OP_div}}),
            minus(4));
  EXPECT_EQ(Evaluate({{DW_OP_consts, minus(8)}, {DW_OP_lit1}, {DW_OP_shra}}),
            minus(4));
  EXPECT_EQ(Evaluate({{DW_OP_consts, minus(1)}, {DW_OP_lit1}, {DW_OP_lt}}), 1u);
  EXPECT_EQ(Evaluate({{DW_OP_lit5}, {DW_OP_neg}, {DW_OP_abs}}), 5u);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_constu, 64}, {DW_OP_shl}}), 0u);
}

TEST_F(DwarfExpressionTest, RearrangesTheStack) {
  EXPECT_EQ(Evaluate({{DW_OP_lit3}, {DW_OP_lit1}, {DW_OP_swap}, {DW_OP_minus}}),
            uint64_t{0} - 2);
  // 1 2 3 -> 3 1 2
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_lit2}, {DW_OP_lit3}, {DW_OP_rot}}),
            2u);
  EXPECT_EQ(Evaluate({{DW_OP_lit4}, {DW_OP_lit5}, {DW_OP_over}}), 4u);
  EXPECT_EQ(Evaluate({{DW_OP_lit4}, {DW_OP_lit5}, {DW_OP_pick, 1}}), 4u);
}

TEST_F(DwarfExpressionTest, Branches) {
  EXPECT_EQ(Evaluate({{DW_OP_lit7},
                      {DW_OP_lit1},
                      {DW_OP_bra, 4},
                      {DW_OP_neg},
                      {DW_OP_nop}}),
            7u);
  EXPECT_EQ(Evaluate({{DW_OP_lit7}, {DW_OP_skip, 99}, {DW_OP_neg}}), 7u);
}

TEST_F(DwarfExpressionTest, HostileExpressionsHaveNoValue) {
  EXPECT_EQ(Evaluate({}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_plus}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_lit0}, {DW_OP_div}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_lit0}, {DW_OP_mod}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_const8s, uint64_t{1} << 63},
                      {DW_OP_consts, ~uint64_t{0}},
                      {DW_OP_div}}),
            std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_breg31, 0}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_bregx, 99, 0}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_deref_size, 9}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_pick, ~uint64_t{0}}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_piece, 4}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_skip, 0}}), std::nullopt);  // it never ends
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_skip, 0}}), std::nullopt);
}

}  // namespace
}  // namespace kymo::sampling
