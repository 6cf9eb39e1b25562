#include "profiler/text/markdown_cell.h"

#include <cctype>
#include <cstddef>

namespace kymo {

std::string MarkdownCell(std::string_view text) {
  constexpr std::string_view kMarkdown = "\\|`*_<>[]~&";
  // Forges look for these in the text that Markdown gives, where a backslash is
  // gone. In an element of its own, the character is followed by nothing.
  constexpr std::string_view kReferences = "@#$!&~%^";
  std::string cell;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_followed = i + 1 < text.size() &&
                             !isspace(static_cast<unsigned char>(text[i + 1]));
    const bool is_reference =
        c == '$' || (is_followed && kReferences.find(c) != kReferences.npos);
    if (is_reference) cell += "<span>";
    if (kMarkdown.find(c) != kMarkdown.npos) cell += '\\';
    cell += c;
    if (is_reference) cell += "</span>";
  }
  return cell;
}

}  // namespace kymo
