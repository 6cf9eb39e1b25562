#include "importers/chrome/json/decimal.h"

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>
#include <system_error>

namespace kymo::chrome_import {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number is +/- |value| * 10^exponent; |value| has at most 30 digits.
struct Decimal {
  unsigned __int128 value = 0;
  int64_t exponent = 0;
  bool is_negative = false;
};

constexpr int kMaxDigits = 30;

std::optional<Decimal> ParseDecimal(std::string_view text) {
  Decimal decimal;
  size_t at = 0;
  if (at < text.size() && text[at] == '-') {
    decimal.is_negative = true;
    ++at;
  }
  int digits = 0;
  const auto take = [&](bool is_fraction) {
    const size_t begin = at;
    for (; at < text.size() && IsDigit(text[at]); ++at) {
      if (digits < kMaxDigits) {
        decimal.value =
            decimal.value * 10 + static_cast<unsigned>(text[at] - '0');
        if (decimal.value != 0) ++digits;
        if (is_fraction) --decimal.exponent;
      } else if (!is_fraction) {
        ++decimal.exponent;
      }
    }
    return at != begin;
  };
  if (!take(/*is_fraction=*/false)) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!take(/*is_fraction=*/true)) return std::nullopt;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    // from_chars takes a minus, also behind a plus.
    if (at < text.size() && text[at] == '+' &&
        (++at == text.size() || !IsDigit(text[at]))) {
      return std::nullopt;
    }
    int32_t exponent = 0;
    const auto [end, error] =
        std::from_chars(text.data() + at, text.data() + text.size(), exponent);
    if (error != std::errc()) return std::nullopt;
    at = static_cast<size_t>(end - text.data());
    decimal.exponent += exponent;
  }
  return at == text.size() ? std::optional(decimal) : std::nullopt;
}

// Rounded to a whole number.
std::optional<int64_t> ToInt(Decimal decimal) {
  constexpr auto kMost =
      static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max());
  unsigned __int128 value = decimal.value;
  for (; decimal.exponent > 0 && value != 0 && value <= kMost;
       --decimal.exponent) {
    value *= 10;
  }
  unsigned rest = 0;  // the digit behind the point
  for (; decimal.exponent < 0 && (value != 0 || rest != 0);
       ++decimal.exponent) {
    rest = static_cast<unsigned>(value % 10);
    value /= 10;
  }
  if (rest >= 5) ++value;
  if (value > kMost) return std::nullopt;
  const auto number = static_cast<int64_t>(value);
  return decimal.is_negative ? -number : number;
}

// Adds the digits of `text` to `number`, as its last ones. False if some are no
// digits.
bool AddDigits(std::string_view text, uint64_t& number) {
  bool are_digits = true;
  for (const char c : text) {
    are_digits = are_digits && IsDigit(c);
    number = number * 10 + static_cast<unsigned char>(c - '0');
  }
  return are_digits;
}

// The same for eight digits, whose first is in the lowest byte of `bytes`. Sums
// of neighbours take the place of both: digits, then pairs, then fours.
bool AddEightDigits(uint64_t bytes, uint64_t& number) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHigh = kOnes * 0xf0;
  const uint64_t digits = bytes - kOnes * '0';
  const bool are_digits =
      (bytes & kHigh) == kOnes * '0' && ((digits + kOnes * 6) & kHigh) == 0;
  uint64_t sums = digits * 10 + (digits >> 8);
  sums =
      (sums & 0x00ff00ff00ff00ff) * 100 + ((sums >> 16) & 0x00ff00ff00ff00ff);
  sums = (sums & 0x0000ffff0000ffff) * 10'000 +
         ((sums >> 32) & 0x0000ffff0000ffff);
  number = number * 100'000'000 + (sums & 0xffffffff);
  return are_digits;
}

// The same for 8 to 16 digits.
bool AddManyDigits(std::string_view text, uint64_t& number) {
  static_assert(std::endian::native == std::endian::little);
  constexpr size_t kBytes = sizeof(uint64_t);
  uint64_t bytes = 0;
  bool are_digits = true;
  if (const size_t first = text.size() - kBytes; first != 0) {
    std::memcpy(&bytes, text.data(), kBytes);
    // Zeros in front of the first digits take the place of the others.
    constexpr uint64_t kZeros = 0x3030303030303030;
    if (first < kBytes) {
      bytes = bytes << 8 * (kBytes - first) | kZeros >> 8 * first;
    }
    are_digits = AddEightDigits(bytes, number);
  }
  std::memcpy(&bytes, text.data() + text.size() - kBytes, kBytes);
  return AddEightDigits(bytes, number) && are_digits;
}

template <typename T>
std::optional<T> Parse(std::string_view text) {
  T value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

}  // namespace

std::optional<int64_t> MicrosToNs(std::string_view text) {
  // The usual form first: up to 15 digits, a point, three decimals. Times since
  // the epoch have 16 digits, which fit as well.
  constexpr size_t kDecimals = 3;
  if (text.size() >= 5 && text.size() <= 20 &&
      text[text.size() - kDecimals - 1] == '.') {
    uint64_t ns = 0;
    const std::string_view whole = text.substr(0, text.size() - kDecimals - 1);
    const bool is_usual =
        (whole.size() < sizeof(uint64_t) ? AddDigits(whole, ns)
                                         : AddManyDigits(whole, ns)) &&
        AddDigits(text.substr(text.size() - kDecimals), ns);
    constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
    if (is_usual && ns <= kMost) return static_cast<int64_t>(ns);
  }
  std::optional<Decimal> decimal = ParseDecimal(text);
  if (!decimal) return std::nullopt;
  decimal->exponent += 3;
  return ToInt(*decimal);
}

std::optional<int64_t> ParseInt(std::string_view text) {
  constexpr size_t kFits = 18;
  if (uint64_t number = 0;
      !text.empty() && text.size() <= kFits && AddDigits(text, number)) {
    return static_cast<int64_t>(number);
  }
  return Parse<int64_t>(text);
}

std::optional<uint64_t> ParseUint(std::string_view text) {
  return Parse<uint64_t>(text);
}

std::optional<double> ParseDouble(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  const size_t first = text.find_first_not_of('-');
  if (first == std::string_view::npos || !IsDigit(text[first])) {
    return std::nullopt;
  }
  return Parse<double>(text);
}

}  // namespace kymo::chrome_import
