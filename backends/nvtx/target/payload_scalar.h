// payload_scalar.h - the numbers and addresses in payloads of NVTX events.
//
//   const Scalar scalar = ScalarOf(kTypeInt32);      // signed, 4 bytes
//   const uint64_t bits = ReadBits(scalar, from);    // extended to 64 bits
#ifndef KYMO_BACKENDS_NVTX_TARGET_PAYLOAD_SCALAR_H_
#define KYMO_BACKENDS_NVTX_TARGET_PAYLOAD_SCALAR_H_

#include <string.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace kymo::nvtx {

enum class Form { kSigned, kUnsigned, kFloat, kAddress, kCharacter, kOther };

// How a number lies in a payload.
struct Scalar {
  Form form = Form::kOther;
  size_t size = 0;  // and alignment
};

// The form and size of a type of nvtx_abi.h. A type that has none of these
// forms gives Form::kOther and no size.
Scalar ScalarOf(uint64_t type) noexcept;

// REQUIRES: scalar.size bytes at `from`.
inline uint64_t ReadBits(Scalar scalar, const char* from) noexcept {
  uint64_t bits = 0;  // little-endian
  memcpy(&bits, from, scalar.size);
  if (scalar.form == Form::kSigned && scalar.size < 8) {
    const int shift = 64 - 8 * static_cast<int>(scalar.size);
    bits = static_cast<uint64_t>(static_cast<int64_t>(bits << shift) >> shift);
  }
  return bits;
}

inline double AsDouble(Scalar scalar, uint64_t bits) noexcept {
  return scalar.size == 4 ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                          : std::bit_cast<double>(bits);
}

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_PAYLOAD_SCALAR_H_
