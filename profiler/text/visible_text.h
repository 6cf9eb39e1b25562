// visible_text.h - names that may hold control characters, or bytes that are
// not UTF-8, for people to read.
//
//   VisibleText("a\x1b[2J")   // "a\\x1b[2J": four visible characters for one
//   VisibleText("two\nlines") // "two\\nlines"
//
// A name comes from a program or a file that nobody has checked. Printed as it
// is, it could clear the terminal, ring its bell, or break a row. Programs that
// read UTF-8 would refuse all of the output because of one such byte.
//
// Threads: pure functions.
#ifndef KYMO_PROFILER_TEXT_VISIBLE_TEXT_H_
#define KYMO_PROFILER_TEXT_VISIBLE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kymo {

// How many bytes of UTF-8 the control character at text[at] has: 1 below U+0020
// and for U+007F, 2 for U+0080 to U+009F, which terminals obey as well. 0 if
// there is none.
size_t ControlBytes(std::string_view text, size_t at);

// Each control character (below U+0020, U+007F to U+009F) as \n, \t, \r, \xNN
// or \uNNNN, and each byte that is not UTF-8 as \xNN. All else stays.
std::string VisibleText(std::string_view text);

// The same for text of several lines: line feeds and tabs stay.
std::string VisibleLines(std::string_view text);

}  // namespace kymo

#endif  // KYMO_PROFILER_TEXT_VISIBLE_TEXT_H_
