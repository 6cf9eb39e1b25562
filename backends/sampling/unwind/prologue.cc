#include "backends/sampling/unwind/prologue.h"

#include <algorithm>
#include <cstring>

#include "backends/sampling/unwind/registers.h"

namespace kymo::sampling {
namespace {

// Numbers of registers in instructions, and what they are in registers.h.
constexpr uint8_t kDwarfNumbers[16] = {0, 2, 1,  3,  7,  6,  4,  5,
                                       8, 9, 10, 11, 12, 13, 14, 15};
constexpr int kStackPointer = 4;
constexpr int kFramePointer = 5;

bool MustBeKept(int number) {
  return number == 3 || number == kFramePointer || number >= 12;
}

class PrologueReader {
 public:
  PrologueReader(std::span<const std::byte> code, size_t executed_bytes)
      : code_(code), executed_bytes_(std::min(executed_bytes, code.size())) {}

  Prologue Read() {
    while (result_.is_usable) {
      Prologue before = result_;
      const size_t size = ReadOne(result_.size_bytes);
      if (size == 0) {
        result_.is_over = result_.is_usable;
        break;
      }
      if (result_.size_bytes + size > executed_bytes_) {
        result_ = std::move(before);
        break;
      }
      result_.size_bytes += size;
    }
    return std::move(result_);
  }

 private:
  // 0 behind the end, which no instruction that is understood consists of.
  uint8_t At(size_t i) const {
    return i < code_.size() ? static_cast<uint8_t>(code_[i]) : 0;
  }
  int32_t Number(size_t i, size_t size) const {
    if (size == 1) return static_cast<int8_t>(At(i));
    uint32_t bits = 0;
    for (size_t k = 4; k-- > 0;) bits = bits << 8 | At(i + k);
    return static_cast<int32_t>(bits);
  }

  void Take(int64_t bytes) {
    // More than a frame has, or less than nothing.
    if (bytes < 0 || bytes > 1 << 24) result_.is_usable = false;
    result_.taken_bytes += static_cast<uint32_t>(bytes);
    if (result_.taken_bytes > 1 << 24) result_.is_usable = false;
  }
  void Save(int number, int64_t above_stack_pointer) {
    const int64_t offset = above_stack_pointer - result_.taken_bytes - 8;
    const uint8_t dwarf = kDwarfNumbers[number];
    const bool is_there = std::any_of(
        result_.saved.begin(), result_.saved.end(),
        [&](const Prologue::Saved& saved) { return saved.number == dwarf; });
    // Above the return address is the caller's.
    if (!MustBeKept(number) || is_there || offset > -16) return;
    result_.saved.push_back({dwarf, static_cast<int32_t>(offset)});
  }

  // The size of an instruction that is understood, after it was applied.
  size_t ReadOne(size_t at) {
    if (At(at) == 0xf3 && At(at + 1) == 0x0f && At(at + 2) == 0x1e &&
        At(at + 3) == 0xfa) {
      return 4;  // endbr64
    }
    const uint8_t prefix = At(at) >= 0x40 && At(at) <= 0x4f ? At(at) : 0;
    const size_t begin = prefix != 0 ? 1 : 0;
    const uint8_t code = At(at + begin);
    if (code >= 0x50 && code <= 0x57) {  // push
      Take(8);
      Save((code & 7) | (prefix & 1) << 3, 0);
      return begin + 1;
    }
    if (code == 0x81 || code == 0x83) return ReadArithmetic(at, begin, prefix);
    if (code == 0x89 || code == 0x8b) return ReadMove(at, begin, prefix);
    // xor and test of two registers
    const bool is_of_registers = At(at + begin + 1) >> 6 == 3;
    if ((code == 0x31 || code == 0x85) && is_of_registers) return begin + 2;
    return 0;
  }

  // With the stack pointer and a number.
  size_t ReadArithmetic(size_t at, size_t begin, uint8_t prefix) {
    const size_t number_bytes = At(at + begin) == 0x81 ? 4 : 1;
    const int32_t number = Number(at + begin + 2, number_bytes);
    if (prefix != 0x48) return 0;
    switch (At(at + begin + 1)) {
      case 0xec:  // sub
        Take(number);
        return begin + 2 + number_bytes;
      case 0xc4:  // add: compilers write it for sub of 128
        Take(-int64_t{number});
        return begin + 2 + number_bytes;
      case 0xe4:  // and: only the frame pointer knows how much it took
        result_.is_usable = result_.taken_at_frame_pointer != 0;
        return result_.is_usable ? begin + 2 + number_bytes : 0;
      default:
        return 0;
    }
  }

  size_t ReadMove(size_t at, size_t begin, uint8_t prefix) {
    const bool is_store = At(at + begin) == 0x89;
    const uint8_t modes = At(at + begin + 1);
    const int reg = (modes >> 3 & 7) | (prefix & 4) << 1;
    const int other = (modes & 7) | (prefix & 1) << 3;
    if (modes >> 6 == 3) {
      const int to = is_store ? other : reg;
      const int from = is_store ? reg : other;
      if (to == kStackPointer) result_.is_usable = false;
      if (to == kFramePointer) {
        const bool is_frame = from == kStackPointer && prefix != 0;
        result_.taken_at_frame_pointer = is_frame ? result_.taken_bytes : 0;
      }
      return result_.is_usable ? begin + 2 : 0;
    }
    // mov register, number(%rsp), all 64 bits
    if (!is_store || (prefix & 0xb) != 8 || (modes & 7) != 4 ||
        At(at + begin + 2) != 0x24) {
      return 0;
    }
    constexpr size_t kNumberBytes[] = {0, 1, 4};
    const size_t number_bytes = kNumberBytes[modes >> 6];
    Save(reg, number_bytes == 0 ? 0 : Number(at + begin + 3, number_bytes));
    return begin + 3 + number_bytes;
  }

  const std::span<const std::byte> code_;
  const size_t executed_bytes_;
  Prologue result_;
};

}  // namespace

Prologue ReadPrologue(std::span<const std::byte> code, size_t executed_bytes) {
  return PrologueReader(code, executed_bytes).Read();
}

std::optional<CallBefore> FindCallBefore(
    std::span<const std::byte, kMostCallBytes> bytes) {
  const auto before = [&](size_t distance) {
    return static_cast<uint8_t>(bytes[kMostCallBytes - distance]);
  };
  for (size_t size = 2; size <= kMostCallBytes; ++size) {
    if (before(size) != 0xff) continue;
    const uint8_t modes = before(size - 1);
    if ((modes >> 3 & 7) != 2) continue;
    const bool has_index = (modes & 7) == 4 && modes >> 6 != 3;
    const bool is_of_rip = (modes & 7) == 5 && modes >> 6 == 0;
    constexpr size_t kNumberBytes[] = {0, 1, 4, 0};
    const size_t number_bytes = is_of_rip ? 4 : kNumberBytes[modes >> 6];
    if (size == 2 + (has_index ? 1 : 0) + number_bytes) return CallBefore{};
  }
  if (before(5) != 0xe8) return std::nullopt;
  int32_t distance = 0;
  std::memcpy(&distance, bytes.data() + kMostCallBytes - 4, sizeof(distance));
  return CallBefore{distance};
}

}  // namespace kymo::sampling
