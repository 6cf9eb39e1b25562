#include "profiler/text/name_operators.h"

#include <cctype>

namespace kymo::report {

size_t PastOperator(std::string_view name, size_t at) {
  constexpr std::string_view kWord = "operator";
  const auto is_of_word = [&](size_t i) {
    return i < name.size() &&
           (std::isalnum(static_cast<unsigned char>(name[i])) != 0 ||
            name[i] == '_');
  };
  if (!name.substr(at).starts_with(kWord)) return at;
  size_t end = at + kWord.size();
  if (is_of_word(end) || (at > 0 && is_of_word(at - 1))) return at;
  if (name.substr(end).starts_with("()")) return end + 2;
  while (end < name.size() &&
         std::string_view("<>=-!").find(name[end]) != std::string_view::npos) {
    ++end;
  }
  return end;
}

}  // namespace kymo::report
