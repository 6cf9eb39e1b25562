// registers.h - the registers of a sampled x86-64 thread, numbered as in DWARF.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_REGISTERS_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_REGISTERS_H_

#include <array>
#include <cstdint>

namespace kymo::sampling {

// rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 rip.
inline constexpr int kRegisterCount = 17;
inline constexpr int kRbp = 6;
inline constexpr int kRsp = 7;
inline constexpr int kRip = 16;

// Where a system call finds its arguments (syscall(2)), and leaves them: rdi,
// rsi, rdx, r10, r8, r9.
inline constexpr std::array<uint8_t, 6> kCallArguments = {5, 4, 1, 10, 8, 9};

using Registers = std::array<uint64_t, kRegisterCount>;

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_REGISTERS_H_
