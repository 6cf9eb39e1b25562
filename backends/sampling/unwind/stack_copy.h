// stack_copy.h - the part of a thread's stack that came with a sample.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_STACK_COPY_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_STACK_COPY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace kymo::sampling {

// The copy is valid as long as the memory that `bytes` views.
struct StackCopy {
  uint64_t base = 0;  // address of the first byte: the stack pointer
  std::span<const std::byte> bytes;
  // A part above it that was read later. Empty: there is none.
  uint64_t far_base = 0;
  std::span<const std::byte> far_bytes = {};

  // The 8 bytes at `address`; nothing unless all of them were copied.
  std::optional<uint64_t> Read(uint64_t address) const noexcept {
    const auto value = ReadIn(base, bytes, address);
    return value ? value : ReadIn(far_base, far_bytes, address);
  }
  // Whether `address` lies in the copied part, but for what was read later.
  bool IsNear(uint64_t address) const noexcept {
    return address - base < bytes.size();
  }
  // Whether `address` lies above the copied part.
  bool IsBeyond(uint64_t address) const noexcept {
    return address >= base && address + 8 > base + bytes.size();
  }

 private:
  static std::optional<uint64_t> ReadIn(uint64_t begin,
                                        std::span<const std::byte> part,
                                        uint64_t address) noexcept {
    const uint64_t offset = address - begin;
    if (part.size() < 8 || offset > part.size() - 8) return std::nullopt;
    uint64_t value;
    std::memcpy(&value, part.data() + offset, sizeof(value));
    return value;
  }
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_STACK_COPY_H_
