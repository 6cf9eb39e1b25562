// json_string.h - reads JSON strings, and repairs text that is not JSON.
//
//   std::string scratch;
//   Unescape("a\\u00e9", scratch)   // "aé"; a view of the input if possible
#ifndef KYMO_IMPORTERS_CHROME_JSON_JSON_STRING_H_
#define KYMO_IMPORTERS_CHROME_JSON_JSON_STRING_H_

#include <string>
#include <string_view>

namespace kymo::chrome_import {

// Returns `raw`, the text between the quotes, without escapes. If there were
// some, the result is in `scratch`. Escapes that JSON does not know stay as
// they are; halves of surrogate pairs become U+FFFD.
std::string_view Unescape(std::string_view raw, std::string& scratch);

// Repairs text that a parser would refuse: bytes that are not UTF-8 become
// U+FFFD, and control characters within strings are escaped.
std::string RepairJson(std::string_view text);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_JSON_JSON_STRING_H_
