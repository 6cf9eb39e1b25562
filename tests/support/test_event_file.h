// test_event_file.h - reads event files for tests, and checks their checksums.
#ifndef KYMO_TESTS_SUPPORT_TEST_EVENT_FILE_H_
#define KYMO_TESTS_SUPPORT_TEST_EVENT_FILE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/tensorboard/event.pb.h"
#include "exporters/tensorboard/event_file/crc32c.h"

namespace kymo::tensorboard {

// The records of `file`. The test fails on a wrong checksum and on bytes that
// are no complete record.
inline std::vector<schema::Event> ReadEventFile(std::string_view file) {
  std::vector<schema::Event> events;
  while (file.size() >= 12) {
    uint64_t length = 0;
    uint32_t length_crc = 0;
    std::memcpy(&length, file.data(), 8);
    std::memcpy(&length_crc, file.data() + 8, 4);
    EXPECT_EQ(length_crc, MaskedCrc32c(file.substr(0, 8)));
    if (file.size() < 16 + length) break;
    uint32_t crc = 0;
    std::memcpy(&crc, file.data() + 12 + length, 4);
    const std::string_view bytes = file.substr(12, length);
    EXPECT_EQ(crc, MaskedCrc32c(bytes));
    EXPECT_TRUE(events.emplace_back().ParseFromString(std::string(bytes)));
    file.remove_prefix(16 + length);
  }
  EXPECT_TRUE(file.empty()) << file.size() << " bytes are no record";
  return events;
}

}  // namespace kymo::tensorboard

#endif  // KYMO_TESTS_SUPPORT_TEST_EVENT_FILE_H_
