#include "profiler/query/statements.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace kymo::query {
namespace {

// Behind the first `end` at or after `from`; the text's end if there is none.
size_t Behind(std::string_view sql, std::string_view end, size_t from) {
  const size_t at = sql.find(end, std::min(from, sql.size()));
  return at == sql.npos ? sql.size() : at + end.size();
}

bool IsSpace(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

struct Token {
  size_t end = 0;
  bool is_blank = false;  // a space or a comment
};

// The token at `at`. Two quotes within quotes read as two texts, which splits
// no statement.
Token TokenAt(std::string_view sql, size_t at) {
  const std::string_view rest = sql.substr(at);
  if (rest.starts_with("--")) return {Behind(sql, "\n", at), true};
  if (rest.starts_with("/*")) return {Behind(sql, "*/", at + 2), true};
  switch (sql[at]) {
    case '\'':
    case '"':
    case '`':
      return {Behind(sql, sql.substr(at, 1), at + 1), false};
    case '[':
      return {Behind(sql, "]", at + 1), false};
    default:
      return {at + 1, IsSpace(sql[at])};
  }
}

}  // namespace

StatementList SplitStatements(std::string_view sql) {
  StatementList list;
  size_t begin = 0;
  bool is_blank = true;
  size_t at = 0;
  while (at < sql.size()) {
    if (sql[at] == ';') {
      if (!is_blank) list.statements.push_back(sql.substr(begin, at - begin));
      begin = ++at;
      is_blank = true;
      continue;
    }
    const Token token = TokenAt(sql, at);
    is_blank &= token.is_blank;
    // A statement begins with its first word.
    if (is_blank) begin = token.end;
    at = token.end;
  }
  if (!is_blank) list.rest = sql.substr(begin);
  return list;
}

}  // namespace kymo::query
