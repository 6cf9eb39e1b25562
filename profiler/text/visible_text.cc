#include "profiler/text/visible_text.h"

#include <cstddef>

namespace kymo {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// U+0080 to U+009F are two bytes in UTF-8, the first of which is this.
constexpr unsigned char kLeadOfC1 = 0xC2;

bool IsC1(std::string_view text, size_t at) {
  if (static_cast<unsigned char>(text[at]) != kLeadOfC1) return false;
  if (at + 1 == text.size()) return false;
  const auto next = static_cast<unsigned char>(text[at + 1]);
  return next >= 0x80 && next <= 0x9F;
}

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
    const auto byte = static_cast<unsigned char>(text[i]);
    if (IsC1(text, i)) {
      const auto next = static_cast<unsigned char>(text[++i]);
      out += "\\u00";
      out += kHex[next >> 4];
      out += kHex[next & 0xF];
    } else if ((byte < 0x20 || byte == 0x7F) &&
               kept.find(text[i]) == kept.npos) {
      AppendEscape(byte, out);
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string VisibleText(std::string_view text) { return Visible(text, ""); }

std::string VisibleLines(std::string_view text) {
  return Visible(text, "\n\t");
}

}  // namespace kymo
