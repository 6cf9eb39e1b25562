// setting_values.h - the types that a setting can have; for settings.h.
//
//   setting::Integer(&S::rows, 1, 99)     // a whole number
//   setting::Word(&S::form, {{"html", Form::kHtml}, {"json", Form::kJson}})
//   setting::Custom(...)                  // anything else
//
// Each is bound to a member of a struct, which holds the default. The empty
// text unsets a member that is std::optional.
#ifndef KYMO_PROFILER_PLUGIN_SETTING_VALUES_H_
#define KYMO_PROFILER_PLUGIN_SETTING_VALUES_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "profiler/base/time.h"

namespace kymo {

// How one member of S is read from text and written as text. The functions of
// namespace `setting` make these.
template <typename S>
struct SettingValue {
  std::function<bool(std::string_view text, S& into)> parse;
  std::function<std::string(const S&)> text;
  std::string takes;
  std::string hint;

  SettingValue() = default;
  // A member of a base class is a member of S, too.
  template <typename Base>
  requires std::derived_from<S, Base>
  // NOLINTNEXTLINE(google-explicit-constructor)
  SettingValue(SettingValue<Base> from)
      : parse(std::move(from.parse)),
        text(std::move(from.text)),
        takes(std::move(from.takes)),
        hint(std::move(from.hint)) {}
};

// "512MiB": a whole number from 1 on, and KiB, MiB or GiB. Nothing for other
// texts, and for 2^63 bytes or more.
std::optional<uint64_t> ParseBytes(std::string_view text);

// "30s": a whole number from 1 on, and ns, us, ms or s. Nothing for other
// texts, and for what 63 bits cannot hold.
std::optional<DurationNs> ParseDurationNs(std::string_view text);

namespace setting {

// The type of a member's value: T itself, or the T of a std::optional<T>, which
// the empty text unsets.
template <typename T>
struct Held {
  using Type = T;
};
template <typename T>
struct Held<std::optional<T>> {
  using Type = T;
};
template <typename T>
using HeldType = typename Held<T>::Type;

// A value of any type. `parse` returns nothing for a wrong text. `takes`
// completes "it takes ...".
template <typename S, typename T>
SettingValue<S> Custom(
    T S::*member,
    std::function<std::optional<HeldType<T>>(std::string_view)> parse,
    std::function<std::string(const HeldType<T>&)> format, std::string takes,
    std::string hint) {
  constexpr bool kIsOptional = !std::is_same_v<T, HeldType<T>>;
  SettingValue<S> value;
  value.parse = [member, parse](std::string_view text, S& into) {
    if constexpr (kIsOptional) {
      if (text.empty()) {
        into.*member = std::nullopt;
        return true;
      }
    }
    std::optional<HeldType<T>> parsed = parse(text);
    if (parsed.has_value()) into.*member = *std::move(parsed);
    return parsed.has_value();
  };
  value.text = [member, format](const S& from) -> std::string {
    if constexpr (kIsOptional) {
      return from.*member ? format(*(from.*member)) : "";
    } else {
      return format(from.*member);
    }
  };
  value.takes = std::move(takes);
  value.hint = std::move(hint);
  return value;
}

// Helpers of the templates below.
std::optional<bool> ParseSwitch(std::string_view text);
std::optional<int64_t> ParseInteger(std::string_view text, int64_t least,
                                    int64_t most);
std::optional<double> ParseReal(std::string_view text, double least,
                                double most);
std::string FormatReal(double value);
std::string FormatBytes(uint64_t value);
std::string FormatDuration(DurationNs value);
std::vector<std::string> SplitList(std::string_view text);
std::string JoinList(const std::vector<std::string>& words);
std::string IntegerRange(int64_t least, int64_t most, std::string_view unit);
std::string RealRange(double least, double most, std::string_view unit);
std::string BytesRange(uint64_t least, uint64_t most);
std::string DurationRange(DurationNs least, DurationNs most);

inline constexpr int64_t kNoLeast = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kNoMost = std::numeric_limits<int64_t>::max();

// On or off: --name, --noname, --name=1, --name=0. Words such as true and no
// are taken, too.
template <typename S, typename T>
SettingValue<S> Switch(T S::*member) {
  static_assert(std::is_same_v<HeldType<T>, bool>);
  return Custom<S, T>(
      member, ParseSwitch,
      [](bool value) -> std::string { return value ? "1" : "0"; }, "0 or 1",
      "");
}

// A whole number; both ends are allowed. `unit` is for help and errors.
template <typename S, typename T>
SettingValue<S> Integer(T S::*member, int64_t least = kNoLeast,
                        int64_t most = kNoMost, std::string_view unit = "") {
  static_assert(std::is_integral_v<HeldType<T>>);
  using Number = HeldType<T>;
  std::string takes = IntegerRange(least, most, unit);
  // Values that the member cannot hold are wrong, too.
  if (std::cmp_less(least, std::numeric_limits<Number>::min())) {
    least = static_cast<int64_t>(std::numeric_limits<Number>::min());
  }
  if (std::cmp_greater(most, std::numeric_limits<Number>::max())) {
    most = static_cast<int64_t>(std::numeric_limits<Number>::max());
  }
  return Custom<S, T>(
      member,
      [least, most](std::string_view text) -> std::optional<Number> {
        const std::optional<int64_t> number = ParseInteger(text, least, most);
        if (!number.has_value()) return std::nullopt;
        return static_cast<Number>(*number);
      },
      [](Number value) { return std::to_string(value); }, std::move(takes),
      "N");
}

template <typename S, typename T>
SettingValue<S> Real(T S::*member, double least, double most,
                     std::string_view unit = "") {
  static_assert(std::is_same_v<HeldType<T>, double>);
  return Custom<S, T>(
      member,
      [least, most](std::string_view text) {
        return ParseReal(text, least, most);
      },
      FormatReal, RealRange(least, most, unit), "X");
}

// An amount of memory, as ParseBytes() takes it.
template <typename S, typename T>
SettingValue<S> Bytes(T S::*member, uint64_t least, uint64_t most) {
  static_assert(std::is_same_v<HeldType<T>, uint64_t>);
  return Custom<S, T>(
      member,
      [least, most](std::string_view text) {
        std::optional<uint64_t> bytes = ParseBytes(text);
        if (bytes && (*bytes < least || *bytes > most)) bytes.reset();
        return bytes;
      },
      FormatBytes, BytesRange(least, most), "BYTES");
}

// A length of time, as ParseDurationNs() takes it.
template <typename S, typename T>
SettingValue<S> Duration(T S::*member, DurationNs least, DurationNs most) {
  static_assert(std::is_same_v<HeldType<T>, DurationNs>);
  return Custom<S, T>(
      member,
      [least, most](std::string_view text) {
        std::optional<DurationNs> duration = ParseDurationNs(text);
        if (duration && (*duration < least || *duration > most)) {
          duration.reset();
        }
        return duration;
      },
      FormatDuration, DurationRange(least, most), "TIME");
}

template <typename S, typename T>
SettingValue<S> Text(T S::*member) {
  static_assert(std::is_same_v<HeldType<T>, std::string>);
  return Custom<S, T>(
      member,
      [](std::string_view text) -> std::optional<std::string> {
        return std::string(text);
      },
      [](const std::string& value) { return value; }, "", "TEXT");
}

// Texts that commas separate.
template <typename S>
SettingValue<S> Texts(std::vector<std::string> S::*member) {
  return Custom<S, std::vector<std::string>>(
      member,
      [](std::string_view text) -> std::optional<std::vector<std::string>> {
        return SplitList(text);
      },
      JoinList, "", "NAMES");
}

// A word, and the value that it means.
template <typename T>
using WordsOf = std::vector<std::pair<std::string, T>>;

template <typename T>
std::string ListWords(const WordsOf<T>& words) {
  std::string list;
  for (const auto& [word, value] : words) {
    list += (list.empty() ? "" : ", ") + word;
  }
  return list;
}

template <typename T>
std::optional<T> ValueOfWord(const WordsOf<T>& words, std::string_view text) {
  for (const auto& [word, value] : words) {
    if (word == text) return value;
  }
  return std::nullopt;
}

template <typename T>
std::string WordOfValue(const WordsOf<T>& words, const T& value) {
  for (const auto& [word, known] : words) {
    if (known == value) return word;
  }
  return "";
}

// One of some words.
template <typename S, typename T>
SettingValue<S> Word(T S::*member, WordsOf<HeldType<T>> words) {
  return Custom<S, T>(
      member,
      [words](std::string_view text) { return ValueOfWord(words, text); },
      [words](const HeldType<T>& value) { return WordOfValue(words, value); },
      "one of: " + ListWords(words), "WORD");
}

// Any of some words, separated by commas. A list without words is wrong, but it
// unsets a member that is optional.
template <typename S, typename V, typename T = typename HeldType<V>::value_type>
SettingValue<S> Words(V S::*member, WordsOf<T> words) {
  return Custom<S, V>(
      member,
      [words](std::string_view text) -> std::optional<std::vector<T>> {
        std::vector<T> values;
        for (const std::string& word : SplitList(text)) {
          const std::optional<T> value = ValueOfWord(words, word);
          if (!value.has_value()) return std::nullopt;
          values.push_back(*value);
        }
        if (values.empty()) return std::nullopt;
        return values;
      },
      [words](const std::vector<T>& values) {
        std::vector<std::string> names;
        for (const T& value : values) {
          names.push_back(WordOfValue(words, value));
        }
        return JoinList(names);
      },
      "a list, separated by commas, of: " + ListWords(words), "WORDS");
}

// Words that are their own values.
WordsOf<std::string> SameWords(std::span<const std::string> words);

}  // namespace setting

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_SETTING_VALUES_H_
