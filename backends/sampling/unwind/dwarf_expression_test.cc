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

// Each operation of two values, both ways round.
TEST_F(DwarfExpressionTest, OperationsOfTwoValues) {
  constexpr uint64_t kMinusOne = ~uint64_t{0};
  constexpr uint64_t kTop = uint64_t{1} << 63;
  struct Case {
    uint8_t code;
    uint64_t a, b;
    uint64_t result;
  };
  const Case cases[] = {
      {DW_OP_and, 0b1100, 0b1010, 0b1000},
      {DW_OP_or, 0b1100, 0b1010, 0b1110},
      {DW_OP_xor, 0b1100, 0b1010, 0b0110},
      {DW_OP_plus, 7, 3, 10},
      {DW_OP_minus, 7, 3, 4},
      {DW_OP_minus, 3, 7, uint64_t{0} - 4},
      {DW_OP_mul, 7, 3, 21},
      {DW_OP_div, 7, 3, 2},
      {DW_OP_div, uint64_t{0} - 7, kMinusOne, 7},
      {DW_OP_div, kTop, 1, kTop},
      {DW_OP_mod, 7, 3, 1},
      {DW_OP_mod, kMinusOne, 10, 5},  // 2^64 - 1, without a sign
      {DW_OP_shl, 1, 63, kTop},
      {DW_OP_shl, 1, 64, 0},
      {DW_OP_shr, kTop, 63, 1},
      {DW_OP_shr, kTop, 64, 0},
      {DW_OP_shra, kTop, 62, uint64_t{0} - 2},
      {DW_OP_shra, kTop, 64, kMinusOne},
      {DW_OP_shra, 8, 1, 4},
      {DW_OP_eq, 4, 4, 1},
      {DW_OP_eq, 4, 5, 0},
      {DW_OP_ne, 4, 4, 0},
      {DW_OP_ne, 4, 5, 1},
      {DW_OP_ge, 4, 4, 1},
      {DW_OP_ge, kMinusOne, 4, 0},
      {DW_OP_ge, 4, kMinusOne, 1},
      {DW_OP_gt, 4, 4, 0},
      {DW_OP_gt, kMinusOne, 4, 0},
      {DW_OP_gt, 4, kMinusOne, 1},
      {DW_OP_le, 4, 4, 1},
      {DW_OP_le, kMinusOne, 4, 1},
      {DW_OP_le, 4, kMinusOne, 0},
      {DW_OP_lt, 4, 4, 0},
      {DW_OP_lt, kMinusOne, 4, 1},
      {DW_OP_lt, 4, kMinusOne, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Evaluate({{DW_OP_constu, c.a}, {DW_OP_constu, c.b}, {c.code}}),
              c.result)
        << int{c.code} << " " << c.a << " " << c.b;
    EXPECT_EQ(Evaluate({{DW_OP_constu, c.a}, {c.code}}), std::nullopt);
  }
}

TEST_F(DwarfExpressionTest, OperationsOfOneValue) {
  EXPECT_EQ(Evaluate({{DW_OP_lit5}, {DW_OP_abs}}), 5u);
  EXPECT_EQ(Evaluate({{DW_OP_lit0}, {DW_OP_abs}}), 0u);
  EXPECT_EQ(Evaluate({{DW_OP_lit5}, {DW_OP_neg}}), uint64_t{0} - 5);
  EXPECT_EQ(Evaluate({{DW_OP_lit5}, {DW_OP_not}}), ~uint64_t{5});
  EXPECT_EQ(Evaluate({{DW_OP_lit5}, {DW_OP_plus_uconst, 7}}), 12u);
  for (const uint8_t code : {DW_OP_abs, DW_OP_neg, DW_OP_not, DW_OP_plus_uconst,
                             DW_OP_deref, DW_OP_dup, DW_OP_drop, DW_OP_bra}) {
    EXPECT_EQ(Evaluate({{code}, {DW_OP_lit1}}), std::nullopt) << int{code};
  }
}

TEST_F(DwarfExpressionTest, ConstantsAndRegisters) {
  EXPECT_EQ(Evaluate({{DW_OP_lit0}}), 0u);
  EXPECT_EQ(Evaluate({{DW_OP_lit31}}), 31u);
  for (const uint8_t code :
       {DW_OP_addr, DW_OP_const1u, DW_OP_const1s, DW_OP_const2u, DW_OP_const2s,
        DW_OP_const4u, DW_OP_const4s, DW_OP_const8u, DW_OP_const8s,
        DW_OP_constu, DW_OP_consts}) {
    EXPECT_EQ(Evaluate({{code, 99}}), 99u) << int{code};
  }
  EXPECT_EQ(Evaluate({{DW_OP_breg0, 5}}), 5u);
  EXPECT_EQ(Evaluate({{DW_OP_breg16, 5}}), 16'005u);
  EXPECT_EQ(Evaluate({{DW_OP_breg17, 5}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_bregx, 16, 5}}), 16'005u);
  EXPECT_EQ(Evaluate({{DW_OP_bregx, 17, 5}}), std::nullopt);
}

TEST_F(DwarfExpressionTest, TheStackHasItsLimits) {
  // 1 2 3 -> 3 1 2, from below.
  EXPECT_EQ(Evaluate({{DW_OP_lit1},
                      {DW_OP_lit2},
                      {DW_OP_lit3},
                      {DW_OP_rot},
                      {DW_OP_drop}}),
            1u);
  EXPECT_EQ(Evaluate({{DW_OP_lit1},
                      {DW_OP_lit2},
                      {DW_OP_lit3},
                      {DW_OP_rot},
                      {DW_OP_drop},
                      {DW_OP_drop}}),
            3u);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_lit2}, {DW_OP_rot}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_swap}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_over}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit1}, {DW_OP_drop}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit7}, {DW_OP_dup}, {DW_OP_mul}}), 49u);
  EXPECT_EQ(Evaluate({{DW_OP_lit4}, {DW_OP_pick, 0}}), 4u);
  EXPECT_EQ(Evaluate({{DW_OP_lit4}, {DW_OP_pick, 1}}), std::nullopt);
  EXPECT_EQ(Evaluate({{DW_OP_lit6}, {DW_OP_stack_value}, {DW_OP_nop}}), 6u);
  std::vector<ExpressionOp> pushes(64, {DW_OP_lit9});
  EXPECT_EQ(Evaluate(pushes), 9u);
  pushes.push_back({DW_OP_lit9});
  EXPECT_EQ(Evaluate(pushes), std::nullopt);
  // 1,000 operations are done, and no more.
  std::vector<ExpressionOp> steps(1'000, {DW_OP_nop});
  steps[0] = {DW_OP_lit1};
  EXPECT_EQ(Evaluate(steps), 1u);
  steps.push_back({DW_OP_nop});
  EXPECT_EQ(Evaluate(steps), std::nullopt);
}

TEST_F(DwarfExpressionTest, ABranchIsTakenOnlyIfTheValueIsNotZero) {
  const auto branch = [&](uint64_t value) {
    return Evaluate({{DW_OP_lit7},
                     {DW_OP_constu, value},
                     {DW_OP_bra, 4},
                     {DW_OP_neg},
                     {DW_OP_nop}});
  };
  EXPECT_EQ(branch(0), uint64_t{0} - 7);
  EXPECT_EQ(branch(uint64_t{1} << 40), 7u);
  EXPECT_EQ(Evaluate({{DW_OP_lit7}, {DW_OP_skip, 3}, {DW_OP_neg}, {DW_OP_nop}}),
            7u);
}

TEST_F(DwarfExpressionTest, MemoryHasItsSizesAndItsEnds) {
  const auto read = [&](uint64_t address, uint64_t size) {
    missed_ = 1;
    return Evaluate({{DW_OP_constu, address}, {DW_OP_deref_size, size}});
  };
  const uint64_t word = 0x2222222222222222;
  for (uint64_t size = 1; size <= 8; ++size) {
    EXPECT_EQ(read(5016, size), word >> (64 - 8 * size)) << size;
  }
  EXPECT_EQ(read(5016, 0), std::nullopt);
  EXPECT_EQ(missed_, 0u);  // it was not the memory's fault
  EXPECT_EQ(read(5000, 8), 0u);
  EXPECT_EQ(read(5056, 8), 0x7777777777777777u);
  EXPECT_EQ(read(5057, 8), std::nullopt);
  EXPECT_EQ(missed_, 5057u);
  EXPECT_EQ(read(4999, 8), std::nullopt);
  EXPECT_EQ(missed_, 4999u);
}

TEST(StackCopyTest, HasWholeWordsBetweenItsEnds) {
  const std::vector<std::byte> memory(16, std::byte{1});
  const StackCopy copy = {1'000, memory};
  EXPECT_EQ(copy.Read(1'000), 0x0101010101010101u);
  EXPECT_EQ(copy.Read(1'008), 0x0101010101010101u);
  EXPECT_EQ(copy.Read(1'009), std::nullopt);
  EXPECT_EQ(copy.Read(999), std::nullopt);
  EXPECT_EQ((StackCopy{1'000, std::span(memory).first(8)}).Read(1'000),
            0x0101010101010101u);
  EXPECT_EQ((StackCopy{1'000, std::span(memory).first(7)}).Read(1'000),
            std::nullopt);
  EXPECT_FALSE(copy.IsBeyond(999));
  EXPECT_FALSE(copy.IsBeyond(1'008));
  EXPECT_TRUE(copy.IsBeyond(1'009));
}

}  // namespace
}  // namespace kymo::sampling
