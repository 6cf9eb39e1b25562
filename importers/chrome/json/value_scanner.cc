#include "importers/chrome/json/value_scanner.h"

namespace kymo::chrome_import {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Real files have few spaces between two elements; no more than these are
// skipped.
constexpr size_t kMaxSpace = 256;

// The position behind the spaces; kNone if the text ends, or there are too
// many.
size_t SkipSpace(std::string_view text, size_t at) {
  for (size_t n = 0; at < text.size() && n < kMaxSpace; ++at, ++n) {
    if (!IsJsonSpace(text[at])) return at;
  }
  return kNone;
}

// Whether the `}` at `brace` may end an element that another element follows.
bool IsElementEnd(std::string_view text, size_t brace) {
  const size_t comma = SkipSpace(text, brace + 1);
  if (comma == kNone || text[comma] != ',') return false;
  const size_t next = SkipSpace(text, comma + 1);
  if (next == kNone || text[next] != '{') return false;
  const size_t key = SkipSpace(text, next + 1);
  return key != kNone && text[key] == '"';
}

}  // namespace

bool ValueScanner::ScanByte(char c) {
  if (in_string_) {
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      return depth_ == 0;
    }
    return false;
  }
  switch (c) {
    case '"':
      in_string_ = true;
      return false;
    case '{':
    case '[':
      ++depth_;
      return false;
    case '}':
    case ']':
      return --depth_ == 0;
    default:
      is_word_ = is_word_ || depth_ == 0;
      return false;
  }
}

size_t ValueScanner::Scan(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool ends_word = c == ',' || c == '}' || c == ']' || c == ':' ||
                           c == '{' || c == '[' || c == '"' || IsJsonSpace(c);
    if (depth_ == 0 && !in_string_ &&
        (is_word_ ? ends_word : c == '}' || c == ']')) {
      done_ = true;
      return i;
    }
    if (ScanByte(c)) {
      done_ = true;
      return i + 1;
    }
  }
  return text.size();
}

size_t FindValueEnd(std::string_view text) {
  ValueScanner scanner;
  const size_t length = scanner.Scan(text);
  return scanner.done() ? length : kNone;
}

size_t FindElementEnd(std::string_view text, size_t from) {
  for (size_t brace = text.find('}', from); brace != kNone;
       brace = text.find('}', brace + 1)) {
    if (IsElementEnd(text, brace)) return brace + 1;
  }
  return kNone;
}

size_t FindLastElementEnd(std::string_view text) {
  for (size_t brace = text.rfind('}'); brace != kNone;
       brace = brace == 0 ? kNone : text.rfind('}', brace - 1)) {
    if (IsElementEnd(text, brace)) return brace + 1;
  }
  return kNone;
}

}  // namespace kymo::chrome_import
