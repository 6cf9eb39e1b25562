// value_scanner.h - finds where a JSON value ends, without understanding it.
//
//   ValueScanner scanner;
//   size_t bytes = scanner.Scan(text);   // of `text`, that belong to the value
//   if (!scanner.done()) ...             // the value goes on in the next text
//
// Follows strings, brackets and braces, but does not check that they match.
// Depth costs nothing: there is a counter, and no recursion.
#ifndef KYMO_IMPORTERS_CHROME_JSON_VALUE_SCANNER_H_
#define KYMO_IMPORTERS_CHROME_JSON_VALUE_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kymo::chrome_import {

class ValueScanner {
 public:
  // The value, or its next part, begins at the first byte of `text`; a new
  // value must not begin with a space. A number or word ends where a separator
  // is seen.
  size_t Scan(std::string_view text);

  bool done() const { return done_; }

 private:
  bool ScanByte(char c);

  uint64_t depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool is_word_ = false;
  bool done_ = false;
};

// The length of the value at the beginning of `text`; npos if it does not end.
size_t FindValueEnd(std::string_view text);

// The first position from `from` on where an element of a list may end and
// another one follow: behind the first brace of `} , { "`. That may also be
// within a nested list or (hardly ever) within a string. npos if there is none.
size_t FindElementEnd(std::string_view text, size_t from);
// The last such position.
size_t FindLastElementEnd(std::string_view text);

constexpr bool IsJsonSpace(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// The number of spaces at the beginning of `text`.
inline size_t CountSpace(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsJsonSpace(text[n])) ++n;
  return n;
}

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_JSON_VALUE_SCANNER_H_
