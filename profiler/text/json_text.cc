#include "profiler/text/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "profiler/text/utf8.h"

namespace kymo::json {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// The treatment of a byte of a string.
enum class ByteKind : uint8_t { kPlain, kEscape, kUtf8 };

constexpr std::array<ByteKind, 256> MakeByteKinds() {
  std::array<ByteKind, 256> kinds{};
  for (int i = 0; i < 256; ++i) {
    const bool is_escape = i < 0x20 || i == '"' || i == '\\' || i == 0x7F;
    kinds[i] = is_escape   ? ByteKind::kEscape
               : i >= 0x80 ? ByteKind::kUtf8
                           : ByteKind::kPlain;
  }
  return kinds;
}
constexpr std::array<ByteKind, 256> kByteKinds = MakeByteKinds();

void AppendEscaped(std::string& out, unsigned char byte) {
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
  }
}

// A recursive-descent check, one method per rule of the grammar.
class Checker {
 public:
  explicit Checker(std::string_view text) : rest_(text) {}

  bool CheckAll() {
    SkipSpace();
    if (!Value(0)) return false;
    SkipSpace();
    return rest_.empty();
  }

 private:
  static constexpr int kMaxDepth = 500;

  bool Value(int depth) {
    if (rest_.empty() || depth > kMaxDepth) return false;
    switch (rest_.front()) {
      case '{':
        return List('}', depth, /*has_keys=*/true);
      case '[':
        return List(']', depth, /*has_keys=*/false);
      case '"':
        return String();
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number();
    }
  }

  bool List(char end, int depth, bool has_keys) {
    rest_.remove_prefix(1);
    SkipSpace();
    if (Take(end)) return true;
    for (;;) {
      if (has_keys) {
        if (!String()) return false;
        SkipSpace();
        if (!Take(':')) return false;
        SkipSpace();
      }
      if (!Value(depth + 1)) return false;
      SkipSpace();
      if (Take(end)) return true;
      if (!Take(',')) return false;
      SkipSpace();
    }
  }

  bool String() {
    if (!Take('"')) return false;
    while (!rest_.empty()) {
      const unsigned char byte = static_cast<unsigned char>(rest_.front());
      if (byte < 0x20) return false;
      if (byte == '\\') {
        if (!Escape()) return false;
      } else if (byte >= 0x80) {
        const Utf8Part utf8 = ReadUtf8(rest_);
        if (!utf8.is_valid) return false;
        rest_.remove_prefix(utf8.length);
      } else {
        rest_.remove_prefix(1);
        if (byte == '"') return true;
      }
    }
    return false;
  }

  bool Escape() {
    rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    const char kind = rest_.front();
    rest_.remove_prefix(1);
    if (kind != 'u') {
      return std::string_view("\"\\/bfnrt").find(kind) !=
             std::string_view::npos;
    }
    if (rest_.size() < 4) return false;
    const bool is_hex = rest_.substr(0, 4).find_first_not_of(
                            "0123456789abcdefABCDEF") == std::string_view::npos;
    rest_.remove_prefix(4);
    return is_hex;
  }

  bool Word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool Number() {
    Take('-');
    if (!Take('0') && !Digits()) return false;
    if (Take('.') && !Digits()) return false;
    if (Take('e') || Take('E')) {
      if (!Take('+')) Take('-');
      return Digits();
    }
    return true;
  }

  // One digit or more.
  bool Digits() {
    const size_t count =
        std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    rest_.remove_prefix(count);
    return count > 0;
  }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void SkipSpace() {
    rest_.remove_prefix(
        std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size()));
  }

  std::string_view rest_;
};

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  size_t plain_begin = 0;  // from here on nothing needs attention
  for (size_t i = 0; i < text.size();) {
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    const ByteKind kind = kByteKinds[byte];
    if (kind == ByteKind::kPlain) {
      ++i;
      continue;
    }
    size_t length = 1;
    if (kind == ByteKind::kUtf8) {
      const Utf8Part utf8 = ReadUtf8(text.substr(i));
      length = utf8.length;
      if (utf8.is_valid) {
        i += length;
        continue;
      }
    }
    out.append(text, plain_begin, i - plain_begin);
    if (kind == ByteKind::kEscape) {
      AppendEscaped(out, byte);
    } else {
      out += kReplacement;
    }
    i += length;
    plain_begin = i;
  }
  out.append(text, plain_begin, text.size() - plain_begin);
  out += '"';
}

std::string JsonStringList(std::span<const std::string> texts,
                           std::string_view between) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += between;
    AppendJsonString(out, text);
  }
  out += ']';
  return out;
}

std::string JsonString(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

char* WriteInt(char* to, int64_t value) {
  return std::to_chars(to, to + kMaxNumberLength, value).ptr;
}

char* WriteMicroseconds(char* to, DurationNs ns) {
  // Unsigned, so that the smallest value has a magnitude too.
  uint64_t magnitude = static_cast<uint64_t>(ns);
  if (ns < 0) {
    *to++ = '-';
    magnitude = -magnitude;
  }
  to = std::to_chars(to, to + kMaxNumberLength, magnitude / 1000).ptr;
  const uint32_t rest = static_cast<uint32_t>(magnitude % 1000);
  *to++ = '.';
  *to++ = static_cast<char>('0' + rest / 100);
  *to++ = static_cast<char>('0' + rest / 10 % 10);
  *to++ = static_cast<char>('0' + rest % 10);
  return to;
}

void AppendInt(std::string& out, int64_t value) {
  char text[kMaxNumberLength];
  out.append(text, WriteInt(text, value));
}

void AppendUint(std::string& out, uint64_t value) {
  char text[kMaxNumberLength];
  out.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

void AppendDouble(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
  }
}

void AppendMicroseconds(std::string& out, DurationNs ns) {
  char text[kMaxNumberLength];
  out.append(text, WriteMicroseconds(text, ns));
}

bool IsValidJson(std::string_view text) { return Checker(text).CheckAll(); }

void AppendJsonOrString(std::string& out, std::string_view text) {
  if (IsValidJson(text)) {
    out += text;
  } else {
    AppendJsonString(out, text);
  }
}

}  // namespace kymo::json
