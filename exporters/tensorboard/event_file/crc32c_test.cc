#include "exporters/tensorboard/event_file/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace kymo::tensorboard {
namespace {

TEST(Crc32cTest, ReplaysTheExample) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283);
  EXPECT_EQ(MaskedCrc32c("123456789"), 0xC78AB0E5);
}

TEST(Crc32cTest, ZerosAndNothing) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AA);
  EXPECT_EQ(MaskedCrc32c(std::string(32, '\0')), 0x0FD7FFFA);
  EXPECT_EQ(Crc32c(""), 0);
}

// Bit by bit, as the standard defines it.
uint32_t SlowCrc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
    }
  }
  return ~crc;
}

TEST(Crc32cTest, EveryLengthAndAlignment) {
  std::string bytes;
  for (int i = 0; i < 700; ++i) bytes += static_cast<char>(i * 37 + i / 256);
  for (size_t begin = 0; begin < 16; ++begin) {
    for (size_t end = begin; end <= bytes.size(); end += 7) {
      const std::string_view part =
          std::string_view(bytes).substr(begin, end - begin);
      ASSERT_EQ(Crc32c(part), SlowCrc32c(part)) << begin << " " << end;
    }
  }
}

}  // namespace
}  // namespace kymo::tensorboard
