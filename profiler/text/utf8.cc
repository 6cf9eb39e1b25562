#include "profiler/text/utf8.h"

#include <algorithm>

namespace kymo::json {
namespace {

// The length of the part that is valid.
size_t ValidPrefix(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const Utf8Part part = ReadUtf8(text.substr(i));
    if (!part.is_valid) break;
    i += part.length;
  }
  return i;
}

}  // namespace

std::string_view ToUtf8(std::string_view text, std::string& scratch) {
  size_t valid = ValidPrefix(text);
  if (valid == text.size()) return text;
  scratch.clear();
  while (!text.empty()) {
    scratch.append(text, 0, valid);
    text.remove_prefix(valid);
    if (text.empty()) break;
    scratch += kReplacement;
    text.remove_prefix(ReadUtf8(text).length);
    valid = ValidPrefix(text);
  }
  return scratch;
}

void AppendUtf8(std::string& out, uint32_t code) {
  const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if ((code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) {
    out += kReplacement;
    return;
  }
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

}  // namespace kymo::json
