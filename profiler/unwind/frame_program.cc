#include "profiler/unwind/frame_program.h"

namespace kymo::unwind {
namespace {

// DW_CFA_*; the first three have their operand in the low six bits.
enum Instruction : uint8_t {
  kAdvanceLoc = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  // AArch64: return addresses are signed from here on, or no longer.
  kNegateReturnState = 0x2d,
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
};

// DW_OP_*
constexpr uint8_t kOpDeref = 0x06;
constexpr uint8_t kOpBp = 0x70 + kDwarfBp;  // DW_OP_breg SLEB

// The expression of a PLT stub of x86-64: sp + 8 + ((pc & 15) >= N) * 8. A stub
// has 16 bytes and has pushed a word from its N-th byte on. N is 11, or 10 if
// stubs begin with endbr64.
constexpr uint8_t kStubHead[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a};
constexpr uint8_t kStubTail[] = {0x2a, 0x33, 0x24, 0x22};
constexpr uint8_t kOpLit0 = 0x30;
constexpr size_t kStubBytes = sizeof(kStubHead) + 1 + sizeof(kStubTail);

bool IsStub(const uint8_t* expression, size_t size) {
  return size == kStubBytes &&
         std::memcmp(expression, kStubHead, sizeof(kStubHead)) == 0 &&
         std::memcmp(expression + sizeof(kStubHead) + 1, kStubTail,
                     sizeof(kStubTail)) == 0;
}

// Puts `bytes` into a rule's field; false if it does not fit.
template <typename Field>
bool Put(int64_t bytes, int64_t unit, Field& field) {
  field = static_cast<Field>(bytes / unit);
  return int64_t{field} * unit == bytes;
}

}  // namespace

FrameProgram::Register* FrameProgram::Find(Row& row, uint64_t number) noexcept {
  switch (number) {
    case kDwarfBp:
      return &row.bp;
    case kDwarfSp:
      return &row.sp;
    case kDwarfReturn:
      return &row.return_address;
    default:
      return nullptr;
  }
}

void FrameProgram::Set(uint64_t number, Saved saved, int64_t offset) noexcept {
  Register* const found = Find(row_, number);
  if (found != nullptr) *found = {saved, offset};
}

void FrameProgram::Restore(uint64_t number) noexcept {
  Register* const found = Find(row_, number);
  if (found != nullptr) *found = *Find(initial_, number);
}

void FrameProgram::SetCfa(uint64_t number, int64_t offset) noexcept {
  row_.cfa = Cfa::kRegister;
  row_.cfa_register = number;
  row_.cfa_offset = offset;
}

void FrameProgram::RunCommon(ByteReader instructions) noexcept {
  location_ = 0;
  Run(instructions, 0);
  initial_ = row_;
}

void FrameProgram::Run(ByteReader instructions, uint64_t begin) noexcept {
  location_ = begin;
  while (ok_ && !instructions.at_end() && location_ <= pc_) {
    const auto code = instructions.Fixed<uint8_t>();
    const uint64_t low = code & 0x3f;
    switch (code & 0xc0) {
      case kAdvanceLoc:
        location_ += low * alignment_.code_align;
        break;
      case kOffset:
        Set(low, Saved::kAtCfa,
            static_cast<int64_t>(instructions.Uleb()) * alignment_.data_align);
        break;
      case kRestore:
        Restore(low);
        break;
      default:
        RunOther(code, instructions);
    }
    ok_ = ok_ && instructions.ok();
  }
}

void FrameProgram::RunOther(uint8_t code, ByteReader& instructions) noexcept {
  switch (code) {
    case kNop:
      break;
    case kSetLoc:
      location_ = instructions.Pointer(alignment_.pointer_encoding, 0);
      break;
    case kAdvanceLoc1:
      location_ += instructions.Fixed<uint8_t>() * alignment_.code_align;
      break;
    case kAdvanceLoc2:
      location_ += instructions.Fixed<uint16_t>() * alignment_.code_align;
      break;
    case kAdvanceLoc4:
      location_ += instructions.Fixed<uint32_t>() * alignment_.code_align;
      break;
    case kRememberState:
      ok_ = remembered_count_ < kMaxRemembered;
      if (ok_) remembered_[remembered_count_++] = row_;
      break;
    case kRestoreState:
      ok_ = remembered_count_ > 0;
      if (ok_) row_ = remembered_[--remembered_count_];
      break;
    case kDefCfaExpression:
      ReadCfaExpression(instructions);
      break;
    case kDefCfaOffset:
      row_.cfa_offset = static_cast<int64_t>(instructions.Uleb());
      break;
    case kDefCfaOffsetSf:
      row_.cfa_offset = instructions.Sleb() * alignment_.data_align;
      break;
    case kGnuArgsSize:
      instructions.Uleb();
      break;
#if defined(__aarch64__)
    case kNegateReturnState:
      break;  // Whoever reads an address removes its signature, if it has one.
#endif
    default:
      RunRegister(code, instructions);
  }
}

// Runs the instructions whose first operand is a register.
void FrameProgram::RunRegister(uint8_t code,
                               ByteReader& instructions) noexcept {
  const uint64_t number = instructions.Uleb();
  const int64_t scale = alignment_.data_align;
  switch (code) {
    case kOffsetExtended:
      Set(number, Saved::kAtCfa,
          static_cast<int64_t>(instructions.Uleb()) * scale);
      break;
    case kOffsetExtendedSf:
      Set(number, Saved::kAtCfa, instructions.Sleb() * scale);
      break;
    case kGnuNegativeOffsetExtended:
      Set(number, Saved::kAtCfa,
          -static_cast<int64_t>(instructions.Uleb()) * scale);
      break;
    case kRestoreExtended:
      Restore(number);
      break;
    case kUndefined:
      Set(number, Saved::kUndefined);
      break;
    case kSameValue:
      Set(number, Saved::kSame);
      break;
    case kDefCfa:
      SetCfa(number, static_cast<int64_t>(instructions.Uleb()));
      break;
    case kDefCfaSf:
      SetCfa(number, instructions.Sleb() * scale);
      break;
    case kDefCfaRegister:
      SetCfa(number, row_.cfa_offset);
      break;
    case kRegister:
    case kValOffset:
    case kValOffsetSf:
      instructions.Uleb();
      Set(number, Saved::kOther);
      break;
    case kExpression:
      Set(number, Saved::kOther);
      if (number == kDwarfBp) {
        ReadSavedExpression(instructions);
        break;
      }
      instructions.Skip(instructions.Uleb());
      break;
    case kValExpression:
      Set(number, Saved::kOther);
      instructions.Skip(instructions.Uleb());
      break;
    default:
      ok_ = false;
  }
}

void FrameProgram::ReadCfaExpression(ByteReader& instructions) noexcept {
  const uint64_t size = instructions.Uleb();
  const uint8_t* const begin = instructions.at();
  instructions.Skip(size);
  row_.cfa = Cfa::kNone;
  if (!instructions.ok() || size == 0) return;
  if (IsStub(begin, size)) {
    const uint64_t pushed_from = begin[sizeof(kStubHead)] - kOpLit0;
    SetCfa(kDwarfSp, (pc_ & 15) >= pushed_from ? 16 : 8);
    return;
  }
  ByteReader expression(begin, begin + size);
  if (expression.Fixed<uint8_t>() != kOpBp) return;
  row_.cfa_offset = expression.Sleb();
  if (expression.Fixed<uint8_t>() == kOpDeref && expression.at_end()) {
    row_.cfa = Cfa::kBpMemory;
  }
}

void FrameProgram::ReadSavedExpression(ByteReader& instructions) noexcept {
  const uint64_t size = instructions.Uleb();
  const uint8_t* const begin = instructions.at();
  instructions.Skip(size);
  if (!instructions.ok()) return;
  ByteReader expression(begin, begin + size);
  if (expression.Fixed<uint8_t>() != kOpBp) return;
  const int64_t offset = expression.Sleb();
  if (expression.ok() && expression.at_end()) {
    row_.bp = {Saved::kAtBp, offset};
  }
}

// Says where the return address is; false if the rule cannot.
bool FrameProgram::SetReturn([[maybe_unused]] UnwindRule& rule) const noexcept {
  const Register& at = row_.return_address;
#if defined(__aarch64__)
  if (at.saved == Saved::kSame) return true;
  return at.saved == Saved::kAtCfa && at.offset != 0 &&
         Put(at.offset, kSavedUnit, rule.return_offset);
#else
  return at.saved == Saved::kAtCfa && at.offset == -8;
#endif
}

UnwindRule FrameProgram::Rule() const noexcept {
  constexpr UnwindRule kNone = {.kind = RuleKind::kUnsupported};
  if (!ok_) return kNone;
  if (row_.return_address.saved == Saved::kUndefined) {
    return {.kind = RuleKind::kOutermost};
  }
  UnwindRule rule;
  if (!SetReturn(rule) || row_.sp.saved != Saved::kSame) return kNone;
  if (row_.cfa == Cfa::kBpMemory) {
    rule.kind = RuleKind::kBpMemory;
  } else if (row_.cfa == Cfa::kRegister && row_.cfa_register == kDwarfSp) {
    rule.kind = RuleKind::kSpOffset;
  } else if (row_.cfa == Cfa::kRegister && row_.cfa_register == kDwarfBp) {
    rule.kind = RuleKind::kBpOffset;
  } else {
    return kNone;
  }
  if (row_.bp.saved == Saved::kAtCfa) {
    rule.bp = SavedBp::kAtCfa;
  } else if (row_.bp.saved == Saved::kAtBp) {
    rule.bp = SavedBp::kAtBp;
  } else if (row_.bp.saved != Saved::kSame) {
    return kNone;
  }
  const bool fits = Put(row_.cfa_offset, kCfaUnit, rule.cfa_offset) &&
                    Put(row_.bp.offset, kSavedUnit, rule.bp_offset);
  return fits ? rule : kNone;
}

}  // namespace kymo::unwind
