// json_value.h - a JSON value of simdjson's, as text.
//
// Numbers, words and strings are views of the parsed text: exact, and without a
// second copy. Nested values stay text.
#ifndef KYMO_IMPORTERS_CHROME_JSON_JSON_VALUE_H_
#define KYMO_IMPORTERS_CHROME_JSON_JSON_VALUE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "importers/chrome/json/decimal.h"
#include "importers/chrome/json/json_string.h"
#include "importers/chrome/json/value_scanner.h"

namespace kymo::chrome_import {

struct JsonValue {
  enum class Kind : uint8_t { kString, kScalar, kNested };
  Kind kind = Kind::kScalar;
  std::string_view text;  // of a string: the part between the quotes

  bool is_string() const { return kind == Kind::kString; }

  // Numbers may also be in quotes.
  std::optional<int64_t> Int() const {
    return kind == Kind::kNested ? std::nullopt : ParseInt(text);
  }
  std::optional<int64_t> TimeNs() const {
    return kind == Kind::kNested ? std::nullopt : MicrosToNs(text);
  }
};

// The text without the spaces at its end.
inline std::string_view TrimEnd(std::string_view text) {
  while (!text.empty() && IsJsonSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Whether a number, a word or what Python writes for one begins so.
inline bool BeginsScalar(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == 't' || c == 'f' ||
         c == 'n' || c == 'N' || c == 'I';
}

// False if simdjson finds an error.
inline bool ReadValue(simdjson::ondemand::value value, JsonValue& out) {
  const std::string_view token = value.raw_json_token();
  if (token.empty()) return false;
  if (token.front() == '{' || token.front() == '[') {
    out.kind = JsonValue::Kind::kNested;
    std::string_view raw;
    if (token.front() == '{') {
      simdjson::ondemand::object object;
      if (value.get_object().get(object) != simdjson::SUCCESS ||
          object.raw_json().get(raw) != simdjson::SUCCESS) {
        return false;
      }
    } else {
      simdjson::ondemand::array array;
      if (value.get_array().get(array) != simdjson::SUCCESS ||
          array.raw_json().get(raw) != simdjson::SUCCESS) {
        return false;
      }
    }
    out.text = TrimEnd(raw);
    return true;
  }
  const std::string_view text = TrimEnd(token);
  if (text.front() != '"') {
    if (!BeginsScalar(text.front())) return false;
    out.kind = JsonValue::Kind::kScalar;
    out.text = text;
    return true;
  }
  if (text.size() < 2 || text.back() != '"') return false;
  out.kind = JsonValue::Kind::kString;
  out.text = text.substr(1, text.size() - 2);
  return true;
}

// The top bit of the first byte that is `c`, and perhaps of later bytes; 0 if
// none is. From "Bit Twiddling Hacks", "Determine if a word has a byte equal to
// n" (Sean Eron Anderson).
constexpr uint64_t FindByte(uint64_t bytes, char c) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const uint64_t zero = bytes ^ (kOnes * static_cast<unsigned char>(c));
  return (zero - kOnes) & ~zero & (kOnes << 7);
}

// The text of a key, with its escapes. simdjson wants more padding behind its
// text than the eight bytes that are read here at a time.
inline std::string_view KeyText(simdjson::ondemand::raw_json_string key) {
  static_assert(std::endian::native == std::endian::little);
  static_assert(simdjson::SIMDJSON_PADDING >= sizeof(uint64_t));
  const char* const begin = key.raw();
  const char* end = begin;
  while (true) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, end, sizeof(bytes));
    const uint64_t found = FindByte(bytes, '"') | FindByte(bytes, '\\');
    end += found == 0 ? sizeof(bytes)
                      : static_cast<size_t>(std::countr_zero(found) / 8);
    if (found == 0) continue;
    if (*end == '"') break;
    end += 2;
  }
  return std::string_view(begin, static_cast<size_t>(end - begin));
}

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_JSON_JSON_VALUE_H_
