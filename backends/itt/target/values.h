// values.h - reads numbers that ITT passes as a pointer and a type.
#ifndef KYMO_BACKENDS_ITT_TARGET_VALUES_H_
#define KYMO_BACKENDS_ITT_TARGET_VALUES_H_

#include <string.h>

#include <cstdint>

#include "backends/itt/target/itt_abi.h"

namespace kymo::itt {

template <typename T>
T Load(const void* data) noexcept {
  T value;
  memcpy(&value, data, sizeof(value));
  return value;
}

// Calls f(value) with the number in its own type, and returns f's result. A
// value of unknown type is read as a word, such as a pointer.
template <typename F>
auto WithValue(int type, const void* data, const F& f) noexcept {
  switch (type) {
    case kMetadataInt64:
      return f(Load<int64_t>(data));
    case kMetadataUint32:
      return f(Load<uint32_t>(data));
    case kMetadataInt32:
      return f(Load<int32_t>(data));
    case kMetadataUint16:
      return f(Load<uint16_t>(data));
    case kMetadataInt16:
      return f(Load<int16_t>(data));
    case kMetadataFloat:
      return f(Load<float>(data));
    case kMetadataDouble:
      return f(Load<double>(data));
    default:
      return f(Load<uint64_t>(data));
  }
}

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_VALUES_H_
