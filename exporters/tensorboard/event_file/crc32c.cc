#include "exporters/tensorboard/event_file/crc32c.h"

#include <isa-l/crc.h>

#include <bit>

namespace kymo::tensorboard {

uint32_t Crc32c(std::string_view bytes) {
  constexpr size_t kMost = size_t{1} << 30;  // a length is an int
  uint32_t crc = ~uint32_t{0};
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMost);
    // Only read, whatever the type says.
    crc = crc32_iscsi(
        reinterpret_cast<unsigned char*>(const_cast<char*>(part.data())),
        static_cast<int>(part.size()), crc);
    bytes.remove_prefix(part.size());
  }
  return ~crc;
}

uint32_t MaskedCrc32c(std::string_view bytes) {
  return std::rotr(Crc32c(bytes), 15) + 0xA282EAD8;
}

}  // namespace kymo::tensorboard
