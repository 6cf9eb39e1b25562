#include "profiler/text/visible_text.h"

#include "profiler/text/utf8.h"

namespace kymo {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void AppendEscape(unsigned char byte, std::string& out) {
  switch (byte) {
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 0xF];
  }
}

std::string Visible(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t control_bytes = ControlBytes(text, i);
    if (control_bytes == 2) {
      const auto next = static_cast<unsigned char>(text[++i]);
      out += "\\u00";
      out += kHex[next >> 4];
      out += kHex[next & 0xF];
    } else if (control_bytes == 1 && kept.find(text[i]) == kept.npos) {
      AppendEscape(static_cast<unsigned char>(text[i]), out);
    } else if (static_cast<unsigned char>(text[i]) < 0x80) {
      out += text[i];
    } else {
      const json::Utf8Part part = json::ReadUtf8(text.substr(i));
      for (const char byte : text.substr(i, part.length)) {
        if (part.is_valid) {
          out += byte;
        } else {
          AppendEscape(static_cast<unsigned char>(byte), out);
        }
      }
      i += part.length - 1;
    }
  }
  return out;
}

}  // namespace

size_t ControlBytes(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x20 || byte == 0x7F) return 1;
  if (byte != 0xC2 || at + 1 == text.size()) return 0;
  const auto next = static_cast<unsigned char>(text[at + 1]);
  return next >= 0x80 && next <= 0x9F ? 2 : 0;
}

std::string VisibleText(std::string_view text) { return Visible(text, ""); }

std::string VisibleLines(std::string_view text) {
  return Visible(text, "\n\t");
}

}  // namespace kymo
