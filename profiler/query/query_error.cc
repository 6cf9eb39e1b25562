#include "profiler/query/query_error.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::query {

std::string PlaceInQuery(std::string_view sql, int offset) {
  if (offset < 0 || static_cast<size_t>(offset) > sql.size()) return "";
  const auto at = static_cast<size_t>(offset);
  const size_t last_end = sql.substr(0, at).rfind('\n');
  const size_t begin = last_end == sql.npos ? 0 : last_end + 1;
  const std::string_view line =
      sql.substr(begin, std::min(sql.find('\n', at), sql.size()) - begin);
  constexpr size_t kBefore = 60;
  constexpr size_t kAfter = 40;
  // Control characters become visible, so what stands before is measured after.
  const std::string before = VisibleText(line.substr(0, at - begin));
  const std::string after = VisibleText(line.substr(at - begin));
  const std::string_view shown = report::TakeLast(before, kBefore);
  const std::string_view rest = report::TakeFirst(after, kAfter);
  std::string text = "\n  ";
  const size_t indent =
      report::TextWidth(shown) + (shown.size() < before.size() ? 3 : 0);
  if (shown.size() < before.size()) text += "...";
  text += shown;
  text += rest;
  if (rest.size() < after.size()) text += "...";
  text += "\n  " + std::string(indent, ' ') + "^";
  return text;
}

int OffsetOfName(std::string_view sql, std::string_view message) {
  const size_t colon = message.rfind(": ");
  if (colon == message.npos) return -1;
  const std::string_view name = message.substr(colon + 2);
  const auto is_part_of_name = [&](size_t at) {
    return at < sql.size() &&
           (std::isalnum(static_cast<unsigned char>(sql[at])) != 0 ||
            sql[at] == '_');
  };
  for (size_t at = sql.find(name); at != sql.npos && !name.empty();
       at = sql.find(name, at + 1)) {
    if ((at == 0 || !is_part_of_name(at - 1)) &&
        !is_part_of_name(at + name.size())) {
      return static_cast<int>(at);
    }
  }
  return -1;
}

}  // namespace kymo::query
