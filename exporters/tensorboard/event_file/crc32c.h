// crc32c.h - the checksum of TensorBoard's event files.
//
//   Crc32c("123456789")         // 0xE3069283
//   MaskedCrc32c("123456789")   // 0xC78AB0E5
//
// The checksum is CRC-32C (Castagnoli). Files store it masked, because a
// checksum over bytes that contain their own checksum protects little.
#ifndef KYMO_EXPORTERS_TENSORBOARD_EVENT_FILE_CRC32C_H_
#define KYMO_EXPORTERS_TENSORBOARD_EVENT_FILE_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace kymo::tensorboard {

uint32_t Crc32c(std::string_view bytes);

uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_EVENT_FILE_CRC32C_H_
