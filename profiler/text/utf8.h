// utf8.h - text that may not be UTF-8 into formats that take nothing else.
//
//   std::string scratch;
//   sink.Write(ToUtf8(name, scratch));   // "\xFF a" -> U+FFFD, " a"
//
// Valid UTF-8 stays as it is. Of other bytes each longest part of a broken
// sequence becomes one U+FFFD, as the Unicode standard recommends.
//
// Threads: pure functions.
#ifndef KYMO_PROFILER_TEXT_UTF8_H_
#define KYMO_PROFILER_TEXT_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::json {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Utf8Part {
  size_t length;  // of the sequence, or of the longest part that could be one
  bool is_valid;
};

// The part at the beginning of `text`. REQUIRES: its first byte is >= 0x80.
inline Utf8Part ReadUtf8(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned char lead = byte(0);
  size_t length = 0;
  // Bounds of the second byte: no overlong forms, surrogates, or code points
  // beyond U+10FFFF.
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

// `text` itself where it is valid, else `scratch`, filled.
std::string_view ToUtf8(std::string_view text, std::string& scratch);

// Appends a code point. One that is none (half of a pair, beyond U+10FFFF)
// becomes U+FFFD.
void AppendUtf8(std::string& out, uint32_t code);

}  // namespace kymo::json

#endif  // KYMO_PROFILER_TEXT_UTF8_H_
