// decimal.h - reads numbers as JSON writes them, exactly.
//
//   MicrosToNs("1712195495519689.250")   // 1712195495519689250
//   ParseInt("-7"), ParseUint("18446744073709551615")
//
// Times never become a double, which would lose nanoseconds of times since the
// epoch. Fractions of a nanosecond are rounded to the nearest nanosecond.
//
// Errors: nullopt if the text is no such number, or if the number does not fit.
#ifndef KYMO_IMPORTERS_CHROME_JSON_DECIMAL_H_
#define KYMO_IMPORTERS_CHROME_JSON_DECIMAL_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kymo::chrome_import {

// Microseconds with or without decimals and exponent.
std::optional<int64_t> MicrosToNs(std::string_view text);

std::optional<int64_t> ParseInt(std::string_view text);
std::optional<uint64_t> ParseUint(std::string_view text);

// Also reads NaN, Infinity and -Infinity, which Python writes.
std::optional<double> ParseDouble(std::string_view text);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_JSON_DECIMAL_H_
