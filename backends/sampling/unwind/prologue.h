// prologue.h - what the first instructions of a function did to the stack.
//
//   const Prologue known = ReadPrologue(code, /*executed_bytes=*/12);
//   if (known.is_usable) ... the return address is above known.taken_bytes
//
// Hand-written assembly often has no unwind table: that of MKL has none. But it
// mostly begins like any function, by saving registers and making room, and
// leaves the stack pointer alone from then on. So a few kinds of instructions
// are understood, and the first other one ends the prologue. x86-64 only.
//
// The result is a guess. Whoever uses it must see whether a return address
// stands where it should (FindCallBefore).
// Threads: any.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_PROLOGUE_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_PROLOGUE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kymo::sampling {

// No prologue that is understood is longer.
inline constexpr size_t kMostPrologueBytes = 96;

struct Prologue {
  struct Saved {
    uint8_t number;      // as in registers.h
    int32_t cfa_offset;  // the CFA is above the return address
  };

  // False: the stack pointer was changed in a way that is not understood.
  bool is_usable = true;
  // All of it was executed: the same is true up to the function's end.
  bool is_over = false;
  size_t size_bytes = 0;     // of the instructions that were understood
  uint32_t taken_bytes = 0;  // of the stack, without the return address
  // Not 0: rbp points to the stack pointer of when this much was taken.
  uint32_t taken_at_frame_pointer = 0;
  std::vector<Saved> saved;  // registers that a function must keep
};

// Of the instructions within the first `executed_bytes` of `code`.
Prologue ReadPrologue(std::span<const std::byte> code, size_t executed_bytes);

// The longest call that FindCallBefore knows.
inline constexpr size_t kMostCallBytes = 7;

// How the instruction before a return address may have called.
struct CallBefore {
  // Of a direct call: the function's address minus the return address. Nothing:
  // the call was indirect.
  std::optional<int32_t> distance;
};
// `bytes` are those before the return address. Nothing: there is no call.
std::optional<CallBefore> FindCallBefore(
    std::span<const std::byte, kMostCallBytes> bytes);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_PROLOGUE_H_
