#include "profiler/text/python_text.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "profiler/text/json_text.h"
#include "profiler/text/utf8.h"

namespace kymo {
namespace {

void AppendHex(std::string& out, const char* prefix, int digits,
               uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof(text), "%s%0*x", prefix, digits, value);
  out += text;
}

// REQUIRES: `sequence` is one character beyond ASCII in UTF-8.
uint32_t CodePoint(std::string_view sequence) {
  uint32_t value =
      static_cast<uint8_t>(sequence[0]) & (0xFF >> (sequence.size() + 1));
  for (const char c : sequence.substr(1)) {
    value = value << 6 | (static_cast<uint8_t>(c) & 0x3F);
  }
  return value;
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
  const std::string json = json::JsonString(text);
  std::string out;
  for (std::string_view rest = json; !rest.empty();) {
    size_t length = 1;
    if (static_cast<uint8_t>(rest[0]) >= 0x80) {
      length = json::ReadUtf8(rest).length;
      AppendJsonEscape(out, CodePoint(rest.substr(0, length)));
    } else if (rest.starts_with("\\u0008")) {
      length = 6;
      out += "\\b";
    } else if (rest.starts_with("\\u000c")) {
      length = 6;
      out += "\\f";
    } else {
      if (rest[0] == '\\') length = 2;
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return out;
}

}  // namespace kymo
