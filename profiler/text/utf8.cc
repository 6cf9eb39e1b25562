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

}  // namespace kymo::json
