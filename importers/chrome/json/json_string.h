// json_string.h - the text of JSON strings, and strings that are not JSON.
//
//   std::string scratch;
//   Unescape("a\\u00e9", scratch)   // "aé"; a view of the input if it can be
#ifndef KYMO_IMPORTERS_CHROME_JSON_JSON_STRING_H_
#define KYMO_IMPORTERS_CHROME_JSON_JSON_STRING_H_

#include <string>
#include <string_view>

namespace kymo::chrome_import {

// What stands between the quotes, or `scratch`, filled. Escapes that JSON does
// not know stay as they are; halves of surrogate pairs become U+FFFD.
std::string_view Unescape(std::string_view raw, std::string& scratch);

// `text` with what makes a parser refuse it made good: bytes that are not
// UTF-8 become U+FFFD, control characters within strings are escaped.
std::string RepairJson(std::string_view text);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_JSON_JSON_STRING_H_
