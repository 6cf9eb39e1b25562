// test_gzip.h - reads what was compressed, for tests.
//
//   EXPECT_EQ(Unzip(file.bytes), "text");
#ifndef KYMO_TESTS_SUPPORT_TEST_GZIP_H_
#define KYMO_TESTS_SUPPORT_TEST_GZIP_H_

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>

namespace kymo {

// Expects one member of gzip's format (RFC 1952), and nothing behind it.
inline std::string Unzip(std::string_view gzip) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, /*windowBits: gzip*/ 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK) {
    char part[16 << 10];
    stream.next_out = reinterpret_cast<Bytef*>(part);
    stream.avail_out = sizeof(part);
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(part, sizeof(part) - stream.avail_out);
  }
  EXPECT_EQ(status, Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  inflateEnd(&stream);
  return text;
}

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_GZIP_H_
