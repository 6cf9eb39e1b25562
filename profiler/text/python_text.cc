#include "profiler/text/python_text.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace kymo {
namespace {

void AppendHex(std::string& out, const char* prefix, int digits,
               uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof(text), "%s%0*x", prefix, digits, value);
  out += text;
}

// The code point at the start of `text` and its length in bytes; U+FFFD and 1
// for what is not UTF-8.
struct CodePoint {
  uint32_t value;
  size_t length;
};

CodePoint FirstCodePoint(std::string_view text) {
  constexpr CodePoint kBroken = {0xFFFD, 1};
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return kBroken;
  uint32_t value = first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kBroken;
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xD800 && value < 0xE000;
  if (value < kLeast[length] || value > 0x10FFFF || is_surrogate) {
    return kBroken;
  }
  return {value, length};
}

void AppendJsonEscape(std::string& out, uint32_t code_point) {
  if (code_point >= 0x10000) {
    AppendHex(out, "\\u", 4, 0xD800 + ((code_point - 0x10000) >> 10));
    AppendHex(out, "\\u", 4, 0xDC00 + ((code_point - 0x10000) & 0x3FF));
  } else {
    AppendHex(out, "\\u", 4, code_point);
  }
}

}  // namespace

std::string PythonFloat(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  const auto written =
      std::to_chars(text, text + sizeof(text), value,
                    std::chars_format::scientific);  // -d.ddde+dd
  std::string digits(text, written.ptr);
  const size_t e = digits.find('e');
  int exponent = 0;
  const size_t sign = e + 1 + (digits[e + 1] == '+');
  std::from_chars(digits.data() + sign, digits.data() + digits.size(),
                  exponent);
  if (exponent < -4 || exponent >= 16) return digits;

  std::string out = digits[0] == '-' ? "-" : "";
  digits = digits.substr(out.size(), e - out.size());
  if (digits.size() > 1) digits.erase(1, 1);  // the point
  if (exponent < 0) {
    return out + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  }
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    return out + digits + std::string(whole - digits.size(), '0') + ".0";
  }
  return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string_view PythonBool(bool value) noexcept {
  return value ? "True" : "False";
}

std::string PythonList(const std::vector<std::vector<int64_t>>& shapes) {
  std::string out = "[";
  for (const std::vector<int64_t>& shape : shapes) {
    if (out.size() > 1) out += ", ";
    out += '[';
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i != 0) out += ", ";
      out += std::to_string(shape[i]);
    }
    out += ']';
  }
  return out + "]";
}

std::string PythonString(std::string_view text) {
  const bool has_single = text.find('\'') != text.npos;
  const bool has_double = text.find('"') != text.npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const uint8_t byte = static_cast<uint8_t>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      AppendHex(out, "\\x", 2, byte);
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string PythonJsonString(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto [code_point, length] = FirstCodePoint(text);
    const char c = text[0];
    text.remove_prefix(length);
    switch (code_point) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (code_point < 0x20 || code_point >= 0x7F) {
          AppendJsonEscape(out, code_point);
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

}  // namespace kymo
