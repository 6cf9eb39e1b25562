// value_scanner.h - where a JSON value ends, without understanding it.
//
//   ValueScanner scanner;
//   size_t bytes = scanner.Scan(text);   // of `text` that belong to the value
//   if (!scanner.done()) ...             // it goes on in the text that follows
//
// Strings, brackets and braces are followed; that they match is not checked.
// Depth costs nothing: a counter, no recursion.
#ifndef KYMO_IMPORTERS_CHROME_JSON_VALUE_SCANNER_H_
#define KYMO_IMPORTERS_CHROME_JSON_VALUE_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kymo::chrome_import {

class ValueScanner {
 public:
  // The value, or what came of it so far, begins at the first byte: no space.
  // A number or word ends where a separator is seen.
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

// The length of the value at the beginning of `text`; npos: it does not end.
size_t FindValueEnd(std::string_view text);

// Where, from `from` on, an element of a list may end that another one
// follows: behind the first brace of `} , { "`. It may also be within a nested
// list or (hardly ever) within a string. npos: nowhere.
size_t FindElementEnd(std::string_view text, size_t from);
// The last such position.
size_t FindLastElementEnd(std::string_view text);

constexpr bool IsJsonSpace(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// How many bytes of space `text` begins with.
inline size_t CountSpace(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsJsonSpace(text[n])) ++n;
  return n;
}

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_JSON_VALUE_SCANNER_H_
