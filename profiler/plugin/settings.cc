#include "profiler/plugin/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "profiler/base/strings.h"

namespace kymo {
namespace {

constexpr uint64_t kKib = uint64_t{1} << 10;
constexpr uint64_t kMib = uint64_t{1} << 20;
constexpr uint64_t kGib = uint64_t{1} << 30;

struct Unit {
  std::string_view name;
  uint64_t size;
};
// Largest first.
constexpr Unit kByteUnits[] = {{"GiB", kGib}, {"MiB", kMib}, {"KiB", kKib}};
constexpr Unit kTimeUnits[] = {
    {"s", kNsPerSecond}, {"ms", kNsPerMs}, {"us", kNsPerUs}, {"ns", 1}};

// A whole number from 1 on and one of the units; the product fits in 63 bits.
std::optional<uint64_t> ParseAmount(std::string_view text,
                                    std::span<const Unit> units) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number < 1) return std::nullopt;
  const std::string_view name(stop, static_cast<size_t>(end - stop));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (number > uint64_t{setting::kNoMost} / unit.size) return std::nullopt;
    return number * unit.size;
  }
  return std::nullopt;
}

// Uses the largest unit that divides the amount.
std::string FormatAmount(uint64_t amount, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (amount % unit.size == 0) {
      return absl::StrCat(amount / unit.size, ToAbsl(unit.name));
    }
  }
  return absl::StrCat(amount);
}

// The number of letters to add, remove or exchange.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Without hidden settings, for which a flag of the command stands.
std::vector<std::string> NamesOf(std::span<const SettingInfo> settings) {
  std::vector<std::string> names;
  for (const SettingInfo& setting : settings) {
    if (setting.has_flag) names.push_back(setting.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status UnknownSetting(std::string_view name,
                            std::span<const SettingInfo> known) {
  const std::vector<std::string> names = NamesOf(known);
  if (names.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no setting '", ToAbsl(name),
                     "', nor any other; leave it out"));
  }
  const std::string nearest = NearestName(name, names);
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no setting '", ToAbsl(name), "'; ",
      nearest.empty() ? "" : absl::StrCat("the nearest is '", nearest, "'; "),
      "it is one of: ", absl::StrJoin(names, ", ")));
}

}  // namespace

absl::Status WrongValue(std::string_view label, std::string_view value,
                        std::string_view takes) {
  return absl::InvalidArgumentError(absl::StrCat(
      ToAbsl(label), " is '", ToAbsl(value), "'; it takes ", ToAbsl(takes)));
}

std::vector<SettingInfo> JoinSettings(
    std::initializer_list<std::span<const SettingInfo>> lists) {
  std::vector<SettingInfo> joined;
  for (const std::span<const SettingInfo> list : lists) {
    joined.insert(joined.end(), list.begin(), list.end());
  }
  return joined;
}

absl::StatusOr<ResolvedSettings> ResolveSettings(
    const SettingMap& given, std::span<const SettingInfo> known) {
  ResolvedSettings resolved;
  for (const auto& [name, value] : given) {
    std::vector<const SettingInfo*> meant;
    bool is_old = false;
    for (const SettingInfo& setting : known) {
      if (setting.name == name) meant.push_back(&setting);
    }
    if (meant.empty()) {
      is_old = true;
      for (const SettingInfo& setting : known) {
        if (setting.old_name == name) meant.push_back(&setting);
      }
    }
    if (meant.empty() || name.empty()) return UnknownSetting(name, known);
    for (const SettingInfo* const setting : meant) {
      if (!setting->accepts(value)) {
        return WrongValue(name, value, setting->takes);
      }
      if (!is_old || !given.contains(setting->name)) {
        resolved.settings[setting->name] = value;
      }
    }
    if (is_old) resolved.notices.push_back(RenamedNotice(name, meant, ""));
  }
  return resolved;
}

std::string RenamedNotice(std::string_view old_name,
                          std::span<const SettingInfo* const> settings,
                          std::string_view dashes) {
  std::string notice =
      absl::StrCat(ToAbsl(dashes), ToAbsl(old_name), " is now ");
  for (size_t i = 0; i < settings.size(); ++i) {
    absl::StrAppend(&notice, i == 0 ? "" : " and ", ToAbsl(dashes),
                    settings[i]->name);
  }
  return notice;
}

std::string NearestName(std::string_view name,
                        std::span<const std::string> names) {
  // A longer name is no misspelling, and would take long.
  constexpr size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest) return "";
  std::string nearest;
  size_t least = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : names) {
    const bool is_part = candidate.ends_with(absl::StrCat("_", ToAbsl(name))) ||
                         candidate.starts_with(absl::StrCat(ToAbsl(name), "_"));
    const size_t distance = is_part ? 1 : EditDistance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::optional<uint64_t> ParseBytes(std::string_view text) {
  return ParseAmount(text, kByteUnits);
}

std::optional<DurationNs> ParseDurationNs(std::string_view text) {
  return ParseAmount(text, kTimeUnits);
}

namespace setting {

std::optional<bool> ParseSwitch(std::string_view text) {
  bool value = false;
  if (!absl::SimpleAtob(ToAbsl(text), &value)) return std::nullopt;
  return value;
}

std::optional<int64_t> ParseInteger(std::string_view text, int64_t least,
                                    int64_t most) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most) {
    return std::nullopt;
  }
  return number;
}

std::optional<double> ParseReal(std::string_view text, double least,
                                double most) {
  double number = 0;
  if (!absl::SimpleAtod(ToAbsl(text), &number) || std::isnan(number) ||
      number < least || number > most) {
    return std::nullopt;
  }
  return number;
}

std::string FormatReal(double value) { return absl::StrCat(value); }

std::string FormatBytes(uint64_t value) {
  return FormatAmount(value, kByteUnits);
}

std::string FormatDuration(DurationNs value) {
  return FormatAmount(static_cast<uint64_t>(value), kTimeUnits);
}

std::vector<std::string> SplitList(std::string_view text) {
  if (text.empty()) return {};
  return absl::StrSplit(ToAbsl(text), ',');
}

std::string JoinList(const std::vector<std::string>& words) {
  return absl::StrJoin(words, ",");
}

std::string IntegerRange(int64_t least, int64_t most, std::string_view unit) {
  std::string range = "a whole number";
  if (!unit.empty()) absl::StrAppend(&range, " of ", ToAbsl(unit));
  const bool has_least = least != kNoLeast;
  const bool has_most = most != kNoMost;
  if (has_least) absl::StrAppend(&range, " from ", least);
  if (has_most) absl::StrAppend(&range, has_least ? " to " : " up to ", most);
  if (has_least && !has_most) range += " on";
  return range;
}

std::string RealRange(double least, double most, std::string_view unit) {
  return absl::StrCat("a number", unit.empty() ? "" : " of ", ToAbsl(unit),
                      " from ", FormatReal(least), " to ", FormatReal(most));
}

std::string BytesRange(uint64_t least, uint64_t most) {
  return absl::StrCat("an amount of memory from ", FormatBytes(least), " to ",
                      FormatBytes(most));
}

std::string DurationRange(DurationNs least, DurationNs most) {
  return absl::StrCat("a time from ", FormatDuration(least), " to ",
                      FormatDuration(most));
}

WordsOf<std::string> SameWords(std::span<const std::string> words) {
  WordsOf<std::string> pairs;
  for (const std::string& word : words) pairs.emplace_back(word, word);
  return pairs;
}

}  // namespace setting
}  // namespace kymo
