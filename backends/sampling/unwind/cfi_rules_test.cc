#include "backends/sampling/unwind/cfi_rules.h"

#include <dwarf.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/code_place.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/process_mappings.h"
#include "profiler/symbolize/test_elf.h"

// Rows of a table, each of one instruction; what is not said stays as it was.
// .cfi_escape has the bytes of DW_CFA_def_cfa_expression (0x0f),
// DW_CFA_expression (0x10), DW_CFA_val_offset (0x14, in words of 8 bytes; Clang
// has no directive for it) and DW_CFA_val_expression (0x16).
asm(R"(
.pushsection .text
.globl test_rows, test_row_pushed, test_row_framed, test_row_far
.globl test_row_expressions, test_row_branches, test_row_last, test_rows_end
.type test_rows, @function
test_rows:
  .cfi_startproc
  nop
test_row_pushed:
  .cfi_def_cfa_offset 16
  .cfi_offset rbx, -16
  .cfi_offset xmm0, -32  # which samples do not have
  nop
  nop
test_row_framed:
  .cfi_def_cfa rbp, 32
  .cfi_register r12, r13
  .cfi_escape 0x14, 14, 3  # r14 = cfa - 24
  nop
test_row_far:
  .cfi_def_cfa_offset 0x80000000
  nop
test_row_expressions:
  .cfi_restore r12
  .cfi_restore r14
  .cfi_restore rbx
  .cfi_restore xmm0
  # cfa = rsp + 24
  .cfi_escape 0x0f, 2, 0x77, 24
  # r13 at cfa + 8; r14 at rbp - 8; r15 = rbp + 16
  .cfi_escape 0x10, 13, 2, 0x23, 8
  .cfi_escape 0x10, 14, 2, 0x76, 0x78
  .cfi_escape 0x16, 15, 2, 0x76, 16
  nop
test_row_branches:
  .cfi_restore r13
  .cfi_restore r14
  .cfi_restore r15
  # 0 breg7+8, 2 lit0, 3 bra to 7, 6 nop, 7 lit8, 8 plus, 9 skip to 1 (within
  # the first operation), 12 bra to 115 (outside), 15 skip to 15
  .cfi_escape 0x0f, 18, 0x77, 8, 0x30, 0x28, 1, 0, 0x96, 0x38, 0x22
  .cfi_escape 0x2f, 0xf5, 0xff, 0x28, 100, 0, 0x2f, 0xfd, 0xff
  nop
test_row_last:
  .cfi_def_cfa rsp, 8
  .cfi_undefined rip
  nop
  .cfi_endproc
test_rows_end:
  nop
.size test_rows, . - test_rows

.globl test_signal_rows, test_other_column
.type test_signal_rows, @function
test_signal_rows:
  .cfi_startproc
  .cfi_signal_frame
  nop
  .cfi_endproc
.size test_signal_rows, . - test_signal_rows
.type test_other_column, @function
test_other_column:
  .cfi_startproc
  .cfi_return_column rax
  nop
  .cfi_endproc
.size test_other_column, . - test_other_column

.globl test_guessed, test_no_function
.type test_guessed, @function
test_guessed:
  push %rbx
  sub $0x20, %rsp
  ud2
  nop
.size test_guessed, . - test_guessed
test_no_function:
  nop
.popsection
)");
extern "C" const char test_rows, test_row_pushed, test_row_framed, test_row_far,
    test_row_expressions, test_row_branches, test_row_last, test_rows_end,
    test_signal_rows, test_other_column, test_guessed, test_no_function;

namespace kymo::sampling {
namespace {

class CfiRulesTest : public testing::Test {
 protected:
  CfiRulesTest() { symbolize::AddOwnMappings(modules_, space_); }

  const UnwindRule& Find(const char& label, uint64_t offset = 0) {
    const symbolize::CodePlace place =
        symbolize::PlaceOf(space_, reinterpret_cast<uint64_t>(&label) + offset);
    return rules_.Find(place.module, place.address);
  }
  std::string Expression(int32_t index) const {
    std::string text = "(";
    for (const ExpressionOp& op : rules_.expression(index)) {
      text += text == "(" ? "" : " ";
      text += NameOf(op.code);
      if (op.first != 0) {
        text += ":" + std::to_string(static_cast<int64_t>(op.first));
      }
      if (op.second != 0) text += "+" + std::to_string(op.second);
    }
    return text + ")";
  }
  static std::string NameOf(uint8_t code) {
    switch (code) {
      case DW_OP_bregx:
        return "register";
      case DW_OP_breg6:
        return "rbp";
      case DW_OP_breg7:
        return "rsp";
      case DW_OP_lit0:
        return "0";
      case DW_OP_lit8:
        return "8";
      case DW_OP_bra:
        return "bra";
      case DW_OP_skip:
        return "skip";
      case DW_OP_nop:
        return "nop";
      case DW_OP_plus:
        return "plus";
      case DW_OP_plus_uconst:
        return "plus";
      case DW_OP_call_frame_cfa:
        return "cfa";
      default:
        return "op" + std::to_string(code);
    }
  }
  // "rsp+8: ..." with the registers that change: `@` in memory at cfa + n, `=`
  // cfa + n, `from` another register, or expressions.
  std::string Text(const char& label, uint64_t offset = 0) {
    const UnwindRule& rule = Find(label, offset);
    if (rule.cfa_kind == CfaKind::kNoRule) return "no rule";
    std::string text = rule.cfa_kind == CfaKind::kExpression
                           ? Expression(rule.cfa_offset)
                           : "r" + std::to_string(rule.cfa_register) + "+" +
                                 std::to_string(rule.cfa_offset);
    for (const SavedRegister& saved : rules_.saved(rule)) {
      // The stack pointer of the caller is the cfa, whatever the table says.
      if (saved.number == kRsp) continue;
      text += ", r" + std::to_string(saved.number);
      switch (saved.kind) {
        case SavedKind::kAtCfaOffset:
          text += "@" + std::to_string(saved.value);
          break;
        case SavedKind::kCfaOffset:
          text += "=" + std::to_string(saved.value);
          break;
        case SavedKind::kRegister:
          text += " from r" + std::to_string(saved.value);
          break;
        case SavedKind::kAtExpression:
          text += " at " + Expression(saved.value);
          break;
        case SavedKind::kExpressionValue:
          text += " is " + Expression(saved.value);
          break;
      }
    }
    if (rule.is_outermost) text += ", outermost";
    if (rule.is_signal_frame) text += ", signal";
    if (rule.is_guess) text += ", guess";
    return text;
  }

  symbolize::ModuleTable modules_;
  symbolize::AddressSpace space_;
  RuleTable rules_{&modules_};
};

// Register numbers as DWARF has them for x86-64: 3 rbx, 6 rbp, 7 rsp, 16 rip.
TEST_F(CfiRulesTest, EachRowIsARule) {
  EXPECT_EQ(Text(test_rows), "r7+8, r16@-8");
  EXPECT_EQ(Text(test_row_pushed), "r7+16, r3@-16, r16@-8");
  EXPECT_EQ(Text(test_row_framed),
            "r6+32, r3@-16, r12 from r13, r14=-24, r16@-8");
  // An offset that does not fit is an expression, with the same registers.
  EXPECT_EQ(Text(test_row_far),
            "(register:6+2147483648), r3@-16, r12 from r13, r14=-24, r16@-8");
}

TEST_F(CfiRulesTest, ExpressionsAreKeptWithTheCfaInFront) {
  EXPECT_EQ(Text(test_row_expressions),
            "r7+24, r13@8, r14 at (cfa rbp:-8), r15 is (cfa rbp:16), r16@-8");
  EXPECT_EQ(Text(test_row_branches),
            "(rsp:8 0 bra:4 nop 8 plus skip:1 bra:9 skip:8), r16@-8");
}

TEST_F(CfiRulesTest, TheOutermostFrameAndSignalFramesAreMarked) {
  EXPECT_EQ(Text(test_row_last), "r7+8, outermost");
  EXPECT_EQ(Text(test_signal_rows), "r7+8, r16@-8, signal");
}

TEST_F(CfiRulesTest, WhatTheTablesDoNotSayIsGuessed) {
  EXPECT_EQ(Text(test_rows_end), "r7+8, r16@-8, guess");
  EXPECT_EQ(Text(test_guessed), "r7+8, r16@-8, guess");
  EXPECT_EQ(Text(test_guessed, 1), "r7+16, r3@-16, r16@-8, guess");
  EXPECT_EQ(Text(test_guessed, 5), "r7+48, r3@-16, r16@-8, guess");
  // One rule serves the rest of the function.
  const UnwindRule* const rest = &Find(test_guessed, 5);
  EXPECT_EQ(&Find(test_guessed, 7), rest);
}

TEST_F(CfiRulesTest, WhatHasNoFunctionHasNoRule) {
  EXPECT_EQ(Text(test_no_function), "no rule");
  EXPECT_EQ(Text(test_other_column), "no rule");
}

// This program's own file, and the same as if it were of 32 bits.
TEST_F(CfiRulesTest, CodeOf32BitsHasNoRule) {
  std::ostringstream file;
  file << std::ifstream("/proc/self/exe", std::ios::binary).rdbuf();
  for (const bool is_386 : {false, true}) {
    std::string bytes = file.str();
    ASSERT_GT(bytes.size(), sizeof(Elf64_Ehdr));
    if (is_386) bytes[offsetof(Elf64_Ehdr, e_machine)] = EM_386;
    const std::string path = testing::TempDir() + "/program";
    std::ofstream(path, std::ios::binary) << bytes;
    symbolize::ModuleTable modules;
    const symbolize::ModuleId module =
        modules.File(getpid(), {.path = path, .mapped_ns = INT64_MAX});
    RuleTable rules(&modules);
    for (const char* const label : {&test_row_pushed, &test_guessed}) {
      const auto place =
          symbolize::PlaceOf(space_, reinterpret_cast<uint64_t>(label));
      EXPECT_EQ(rules.Find(module, place.address).cfa_kind == CfaKind::kNoRule,
                is_386);
    }
  }
}

// A program of Go with two functions, and no other tables than Go's own.
TEST_F(CfiRulesTest, GosFunctionsThatSwitchStacksHaveNoCaller) {
  using symbolize::BytesOf;
  const std::string names("\0runtime.systemstack.abi0\0main.main\0", 36);
  constexpr uint64_t kNames = 8 + 8 * 8;
  const std::string table =
      BytesOf(0xfffffff1) + std::string("\0\0\1\10", 4) + BytesOf(uint64_t{2}) +
      BytesOf(uint64_t{1}) + BytesOf(uint64_t{0x1000}) + BytesOf(kNames) +
      std::string(24, '\0') + BytesOf(kNames + names.size()) + names +
      // Where functions begin, and their descriptions; where those are named.
      BytesOf(uint32_t{0}) + BytesOf(uint32_t{20}) + BytesOf(uint32_t{0x10}) +
      BytesOf(uint32_t{28}) + BytesOf(uint32_t{0x40}) + BytesOf(uint32_t{0}) +
      BytesOf(uint32_t{1}) + BytesOf(uint32_t{0x10}) + BytesOf(uint32_t{26});
  symbolize::TestElf elf;
  elf.Add({.name = ".text", .address = 0x1000, .bytes = "code"});
  elf.Add({.name = ".gopclntab", .bytes = table});
  const std::string path = testing::TempDir() + "/go";
  elf.WriteTo(path);
  symbolize::ModuleTable modules;
  const symbolize::ModuleId module =
      modules.File(getpid(), {.path = path, .mapped_ns = INT64_MAX});
  RuleTable rules(&modules);
  const UnwindRule* const rule = &rules.Find(module, 0x100f);
  EXPECT_TRUE(rule->is_outermost);
  EXPECT_FALSE(rules.Find(module, 0x1010).is_outermost);
  // The rule is not made again where others took its place in the cache.
  for (uint64_t other = 0; other < (1 << 16); ++other) {
    rules.Find(module, 0x10000 + other);
  }
  EXPECT_EQ(&rules.Find(module, 0x100f), rule);
}

// One rule serves all addresses of its row, and no other.
TEST_F(CfiRulesTest, ARuleServesItsWholeRow) {
  const UnwindRule* const second = &Find(test_row_pushed, 1);
  EXPECT_EQ(second, &Find(test_row_pushed));
  EXPECT_EQ(Text(test_row_pushed, 1), "r7+16, r3@-16, r16@-8");
  EXPECT_EQ(Text(test_row_pushed, 2), Text(test_row_framed));
  EXPECT_EQ(Text(test_row_pushed, -1), "r7+8, r16@-8");
  EXPECT_EQ(Text(test_row_pushed, 1), "r7+16, r3@-16, r16@-8");
}

}  // namespace
}  // namespace kymo::sampling
