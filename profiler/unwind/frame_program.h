// frame_program.h - runs the instructions of call frame information.
//
//   FrameProgram program({.code_align = 1, .data_align = -8}, pc);
//   program.RunCommon(cie_instructions);      // once: restore goes here
//   program.Run(fde_instructions, fde_begin);  // stops after pc
//   UnwindRule rule = program.Rule();
//
// For each code address, the instructions tell where the caller's registers are
// (DWARF 5, section 6.4.2). Only registers that rules can express are followed:
// sp, bp and the return address. Three forms of expressions are known: GCC's
// two for realigned stacks, and the linker's for PLT stubs. Any other
// expression gives kUnsupported, and so does a program that makes no sense.
#ifndef KYMO_PROFILER_UNWIND_FRAME_PROGRAM_H_
#define KYMO_PROFILER_UNWIND_FRAME_PROGRAM_H_

#include <cstddef>
#include <cstdint>

#include "profiler/unwind/byte_reader.h"
#include "profiler/unwind/unwind_rule.h"

namespace kymo::unwind {

// DWARF's numbers of registers.
#if defined(__aarch64__)
inline constexpr uint64_t kDwarfBp = 29;
inline constexpr uint64_t kDwarfReturn = 30;
inline constexpr uint64_t kDwarfSp = 31;
#else
inline constexpr uint64_t kDwarfBp = 6;
inline constexpr uint64_t kDwarfSp = 7;
inline constexpr uint64_t kDwarfReturn = 16;
#endif

struct FrameAlignment {
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint8_t pointer_encoding = 0;  // for DW_CFA_set_loc
};

class FrameProgram {
 public:
  FrameProgram(FrameAlignment alignment, uint64_t pc) noexcept
      : alignment_(alignment), pc_(pc) {}

  void RunCommon(ByteReader instructions) noexcept;
  // `begin` is the address of the function.
  void Run(ByteReader instructions, uint64_t begin) noexcept;

  UnwindRule Rule() const noexcept;

 private:
  enum class Cfa : uint8_t { kNone, kRegister, kBpMemory };
  enum class Saved : uint8_t { kSame, kAtCfa, kAtBp, kUndefined, kOther };
  struct Register {
    Saved saved = Saved::kSame;
    int64_t offset = 0;
  };
  struct Row {
    Cfa cfa = Cfa::kNone;
    uint64_t cfa_register = 0;
    int64_t cfa_offset = 0;
    Register sp, bp, return_address;
  };

  static constexpr size_t kMaxRemembered = 8;

  static Register* Find(Row& row, uint64_t number) noexcept;
  void Set(uint64_t number, Saved saved, int64_t offset = 0) noexcept;
  void Restore(uint64_t number) noexcept;
  void SetCfa(uint64_t number, int64_t offset) noexcept;
  void RunOther(uint8_t code, ByteReader& instructions) noexcept;
  void RunRegister(uint8_t code, ByteReader& instructions) noexcept;
  void ReadCfaExpression(ByteReader& instructions) noexcept;
  void ReadSavedExpression(ByteReader& instructions) noexcept;
  bool SetReturn(UnwindRule& rule) const noexcept;

  const FrameAlignment alignment_;
  const uint64_t pc_;
  uint64_t location_ = 0;
  bool ok_ = true;
  size_t remembered_count_ = 0;
  Row row_, initial_;
  Row remembered_[kMaxRemembered];
};

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_FRAME_PROGRAM_H_
