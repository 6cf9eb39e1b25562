#include "exporters/tensorboard/name_families.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"

namespace kymo::tensorboard {
namespace {

using model::NameId;

// The text with `#` for each run of digits.
std::string WithoutNumbers(std::string_view text) {
  std::string pattern;
  bool in_number = false;
  for (const char c : text) {
    const bool is_digit = absl::ascii_isdigit(static_cast<unsigned char>(c));
    if (!is_digit) pattern += c;
    if (is_digit && !in_number) pattern += '#';
    in_number = is_digit;
  }
  return pattern;
}

}  // namespace

NameFamilies::NameFamilies(const model::StringTable& strings)
    : strings_(strings) {
  absl::flat_hash_map<std::string, std::vector<NameId>> members;
  for (uint32_t i = 0; i < strings.size(); ++i) {
    const std::string_view text = strings.Get(NameId{i});
    std::string pattern = WithoutNumbers(text);
    if (pattern != text) members[std::move(pattern)].push_back(NameId{i});
  }
  for (const auto& [pattern, names] : members) {
    if (names.size() <= kMostMembers) continue;
    for (const NameId name : names) family_[name] = names.front();
  }
}

std::string NameFamilies::Text(NameId name) const {
  const std::string_view text = strings_.Get(name);
  return family_.contains(name) ? WithoutNumbers(text) : std::string(text);
}

}  // namespace kymo::tensorboard
