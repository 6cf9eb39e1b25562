// fixed_program.h - a part of a program that is not position-independent.
#ifndef KYMO_BACKENDS_MEMORY_TARGET_FIXED_PROGRAM_H_
#define KYMO_BACKENDS_MEMORY_TARGET_FIXED_PROGRAM_H_

namespace kymo::memory {

using Labs = long (*)(long);

// The address that it has for the C library's labs.
Labs AddressOfLabs();

}  // namespace kymo::memory

#endif  // KYMO_BACKENDS_MEMORY_TARGET_FIXED_PROGRAM_H_
