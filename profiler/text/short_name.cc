#include "profiler/text/short_name.h"

#include <algorithm>

#include "profiler/text/folded_defaults.h"
#include "profiler/text/name_operators.h"
#include "profiler/text/text_cells.h"

namespace kymo::report {
namespace {

constexpr std::string_view kDots = "...";

// Without `(int, char) const` and the like at the end.
std::string_view WithoutParameters(std::string_view name) {
  const size_t close = name.rfind(')');
  if (close == std::string_view::npos) return name;
  size_t depth = 0;
  size_t open = close + 1;
  while (open > 0) {
    --open;
    if (name[open] == ')') ++depth;
    if (name[open] == '(' && --depth == 0) break;
  }
  // `operator()`, `(anonymous namespace)::f`, `batch (17) of 20` and Go's
  // `flate.(*Writer).Write` have none.
  const std::string_view rest = name.substr(close + 1);
  constexpr std::string_view kQualifiers[] = {
      " const", " volatile", " &", " noexcept", " [", "[", "@", "."};
  const bool may_follow =
      rest.empty() ||
      std::ranges::any_of(kQualifiers, [&](std::string_view qualifier) {
        return rest.starts_with(qualifier);
      });
  if (depth != 0 || open == 0 || !may_follow || name[open - 1] == ' ' ||
      name[open - 1] == '.' || name.substr(0, open).ends_with("operator")) {
    return name;
  }
  return name.substr(0, open);
}

// What Python calls `f.<locals>.<lambda> (<string>:4)` and `<module> (a.py:1)`
// has no arguments.
bool BeginsPythonsName(std::string_view name, size_t at) {
  if (name[at] != '<') return false;
  if (at > 0) return name[at - 1] == '.' || name[at - 1] == '(';
  const size_t end = name.find('>');
  return end != std::string_view::npos && name.substr(end).starts_with("> (");
}

// With `<...>` for everything between angle brackets.
std::string WithoutTemplateArguments(std::string_view name) {
  std::string out;
  size_t depth = 0;
  for (size_t i = 0; i < name.size();) {
    const size_t past = PastOperator(name, i);
    if (past != i) {
      if (depth == 0) out += name.substr(i, past - i);
      i = past;
      continue;
    }
    const char sign = name[i];
    if (depth == 0 && BeginsPythonsName(name, i)) {
      const size_t end = name.find('>', i);
      if (end == std::string_view::npos) return std::string(name);
      out += name.substr(i, end + 1 - i);
      i = end + 1;
      continue;
    }
    if (sign == '<' && depth++ == 0) out.append("<").append(kDots).append(">");
    if (depth == 0) out += sign;
    // The arrow of a return type or a lambda closes nothing.
    const bool is_arrow = i > 0 && name[i - 1] == '-';
    if (sign == '>' && !is_arrow && depth > 0) --depth;
    ++i;
  }
  return depth == 0 ? out : std::string(name);
}

std::string WithoutMiddle(std::string_view name, size_t width) {
  if (width <= kDots.size()) return std::string(TakeLast(name, width));
  const size_t kept = width - kDots.size();
  std::string out(TakeFirst(name, kept / 3));
  out += kDots;
  out += TakeLast(name, kept - kept / 3);
  return out;
}

// How long the address is that the name begins with, as those of locks do:
// "0x7f6b81a12340, made in Cache::Cache".
size_t AddressWidth(std::string_view name) {
  if (!name.starts_with("0x")) return 0;
  const size_t end = name.find_first_not_of("0123456789abcdef", 2);
  return end == std::string_view::npos ? name.size() : end;
}

}  // namespace

std::string ShortName(std::string_view whole, size_t width) {
  const std::string name = FoldDefaults(whole);
  if (TextWidth(name) <= width) return name;
  constexpr size_t kLeastBehindAddress = 10;
  if (const size_t address = AddressWidth(name);
      address > 0 && address + kLeastBehindAddress <= width) {
    return name.substr(0, address) +
           ShortName(std::string_view(name).substr(address), width - address);
  }
  const std::string_view bare = WithoutParameters(name);
  if (TextWidth(bare) <= width) return std::string(bare);
  const std::string collapsed = WithoutTemplateArguments(bare);
  if (TextWidth(collapsed) <= width) return collapsed;
  return WithoutMiddle(collapsed, width);
}

}  // namespace kymo::report
