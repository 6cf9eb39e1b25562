// data_block.h - one block of the page's data: numbers and texts, compressed.
//
//   DataBlock block("starts", sink);
//   block.Unsigned(delta_ns);
//   block.Text(name);
//   KYMO_RETURN_IF_ERROR(block.End());
//
// A block is a <script> element that no browser runs. All blocks of a trace
// stand in one element. Its text is base64 of
// gzip, so nothing that a program named can be markup. page/data.js reads it:
//
//   Unsigned  7 bits a byte, lowest first; the highest bit says "more"
//             (LEB128, as in DWARF)
//   Signed    the same of 2n, or of -2n - 1 for negative n (zigzag)
//   Double    8 bytes, little-endian
//   Text      the number of bytes, then UTF-8; bytes that are not UTF-8 are
//             U+FFFD
//
// Threads: one at a time. Errors: End() returns the first error of the sink.
// Ownership: the sink must outlive the block, which does not commit it.
#ifndef KYMO_EXPORTERS_HTML_DATA_BLOCK_H_
#define KYMO_EXPORTERS_HTML_DATA_BLOCK_H_

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "profiler/plugin/sink.h"

namespace kymo::html {

class DataBlock {
 public:
  // `name` is the element's attribute data-name: lower-case letters.
  DataBlock(std::string_view name, ByteSink& sink);

  void Unsigned(uint64_t value) {
    while (value >= 0x80) {
      buffer_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    buffer_ += static_cast<char>(value);
    if (buffer_.size() >= kBufferBytes) Flush();
  }
  void Signed(int64_t value) {
    Unsigned((static_cast<uint64_t>(value) << 1) ^
             static_cast<uint64_t>(value >> 63));
  }
  void Double(double value) {
    auto bits = std::bit_cast<uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8) buffer_ += static_cast<char>(bits);
    if (buffer_.size() >= kBufferBytes) Flush();
  }
  void Text(std::string_view text);
  // The bytes as they are.
  void Raw(std::string_view bytes);

  // The last call.
  absl::Status End();

 private:
  static constexpr size_t kBufferBytes = size_t{64} << 10;

  void Flush();

  ByteSink& sink_;
  std::unique_ptr<ByteSink> compressed_;
  std::string buffer_;
  std::string scratch_;
  absl::Status status_;
};

}  // namespace kymo::html

#endif  // KYMO_EXPORTERS_HTML_DATA_BLOCK_H_
