#include "profiler/text/folded_defaults.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "profiler/text/name_operators.h"

namespace kymo::report {
namespace {

constexpr size_t kMostBytes = 4096;

void Replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

void RemoveTags(std::string& text) {
  constexpr std::string_view kBegin = "[abi:";
  for (size_t at; (at = text.find(kBegin)) != std::string::npos;) {
    const size_t end = text.find(']', at);
    if (end == std::string::npos) return;
    text.erase(at, end + 1 - at);
  }
}

// The argument without blanks at its ends, as in "a<b<c> >".
std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// Whether an argument is what it is if nobody gives it. `first` is the first
// argument of the list.
bool IsDefault(std::string_view argument, std::string_view first) {
  constexpr std::string_view kOfFirst[] = {
      "std::char_traits<", "std::less<",       "std::hash<",
      "std::equal_to<",    "std::less_equal<", "std::default_delete<"};
  if (argument.starts_with("std::allocator<")) return true;
  return std::ranges::any_of(kOfFirst, [&](std::string_view name) {
    return argument.starts_with(name) && argument.ends_with('>') &&
           Trim(argument.substr(name.size(),
                                argument.size() - name.size() - 1)) == first;
  });
}

// "<a, b>" without the defaults at the end. `arguments` are folded already.
std::string Joined(const std::vector<std::string>& arguments) {
  size_t count = arguments.size();
  while (count > 1 && IsDefault(arguments[count - 1], arguments[0])) --count;
  std::string text = "<";
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    text += arguments[i];
  }
  return text + ">";
}

// A text that is still open, and the arguments before it.
struct Level {
  std::vector<std::string> arguments;
  std::string text;
  size_t parentheses = 0;
};

std::string WithoutDefaultArguments(std::string_view name) {
  std::vector<Level> levels(1);
  const auto end_argument = [&] {
    Level& level = levels.back();
    level.arguments.emplace_back(Trim(level.text));
    level.text.clear();
  };
  for (size_t i = 0; i < name.size();) {
    const size_t past = PastOperator(name, i);
    if (past != i) {
      levels.back().text += name.substr(i, past - i);
      i = past;
      continue;
    }
    const char sign = name[i++];
    Level& level = levels.back();
    const bool is_arrow = i > 1 && name[i - 2] == '-';
    if (sign == '<') {
      levels.emplace_back();
    } else if (sign == '>' && !is_arrow && levels.size() > 1 &&
               level.parentheses == 0) {
      end_argument();
      const std::string joined = Joined(levels.back().arguments);
      levels.pop_back();
      levels.back().text += joined;
    } else if (sign == ',' && levels.size() > 1 && level.parentheses == 0) {
      end_argument();
    } else {
      if (sign == '(') ++level.parentheses;
      if (sign == ')' && level.parentheses > 0) --level.parentheses;
      level.text += sign;
    }
  }
  // Brackets that do not match: no name of C++.
  return levels.size() == 1 ? std::move(levels[0].text) : std::string(name);
}

}  // namespace

std::string FoldDefaults(std::string_view name) {
  std::string text(name);
  if (name.size() > kMostBytes) return text;
  RemoveTags(text);
  Replace(text, "std::__cxx11::", "std::");
  Replace(text, "std::__1::", "std::");
  text = WithoutDefaultArguments(text);
  // Names that the library gives to templates of characters.
  for (const std::string_view kind :
       {"string", "string_view", "ostream", "istream", "iostream", "ios",
        "stringstream", "ostringstream", "istringstream", "stringbuf",
        "streambuf", "ofstream", "ifstream", "fstream", "filebuf", "regex"}) {
    const std::string full = "std::basic_" + std::string(kind);
    Replace(text, full + "<char>", "std::" + std::string(kind));
    Replace(text, full + "<wchar_t>", "std::w" + std::string(kind));
  }
  return text;
}

}  // namespace kymo::report
