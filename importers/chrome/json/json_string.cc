#include "importers/chrome/json/json_string.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

#include "profiler/text/utf8.h"

namespace kymo::chrome_import {
namespace {

// The number of `uXXXX` at the beginning of `text`.
std::optional<uint32_t> CodeUnit(std::string_view text) {
  if (text.size() < 5 || text[0] != 'u') return std::nullopt;
  uint32_t code = 0;
  const char* const last = text.data() + 5;
  const auto [end, error] = std::from_chars(text.data() + 1, last, code, 16);
  if (error != std::errc() || end != last) return std::nullopt;
  return code;
}

// Appends the character for the escape behind the backslash. Returns how many
// bytes of `text` the escape took.
size_t AppendCode(std::string& out, std::string_view text, uint32_t code) {
  if (code < 0xD800 || code > 0xDFFF) {
    json::AppendUtf8(out, code);
    return 5;
  }
  if (code < 0xDC00 && text.size() > 6 && text[5] == '\\') {
    const std::optional<uint32_t> low = CodeUnit(text.substr(6));
    if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
      json::AppendUtf8(out,
                       0x10000 + ((code - 0xD800) << 10) + (*low - 0xDC00));
      return 11;
    }
  }
  out += json::kReplacement;
  return 5;
}

size_t AppendEscape(std::string& out, std::string_view text) {
  static constexpr std::string_view kLetters = "\"\\/bfnrt";
  static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  if (const std::optional<uint32_t> code = CodeUnit(text)) {
    return AppendCode(out, text, *code);
  }
  const size_t letter =
      text.empty() ? std::string_view::npos : kLetters.find(text[0]);
  if (letter == std::string_view::npos) {
    out += '\\';
    return 0;
  }
  out += kValues[letter];
  return 1;
}

}  // namespace

std::string_view Unescape(std::string_view raw, std::string& scratch) {
  size_t escape = raw.find('\\');
  if (escape == std::string_view::npos) return raw;
  scratch.clear();
  while (escape != std::string_view::npos) {
    scratch += raw.substr(0, escape);
    raw.remove_prefix(escape + 1);
    raw.remove_prefix(AppendEscape(scratch, raw));
    escape = raw.find('\\');
  }
  scratch += raw;
  return scratch;
}

std::string RepairJson(std::string_view text) {
  std::string scratch;
  const std::string_view valid = json::ToUtf8(text, scratch);
  std::string out;
  out.reserve(valid.size() + valid.size() / 8);
  bool in_string = false;
  for (size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    if (in_string && static_cast<unsigned char>(c) < 0x20) {
      static constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 0xF];
      continue;
    }
    out += c;
    if (c == '"') in_string = !in_string;
    if (c == '\\' && in_string && i + 1 < valid.size()) out += valid[++i];
  }
  return out;
}

}  // namespace kymo::chrome_import
