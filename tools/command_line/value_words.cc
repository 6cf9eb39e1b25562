#include "tools/command_line/value_words.h"

#include <string_view>

#include "absl/strings/str_split.h"
#include "profiler/base/strings.h"

namespace kymo::tools {

ValueWords ValueWordsOf(const SettingInfo& flag) {
  constexpr std::string_view kOne = "one of: ";
  constexpr std::string_view kSeveral = "a list, separated by commas, of: ";
  std::string_view takes = flag.takes;
  const bool is_list = takes.starts_with(kSeveral);
  if (!is_list && !takes.starts_with(kOne)) return {};
  takes.remove_prefix(is_list ? kSeveral.size() : kOne.size());
  return {.words = absl::StrSplit(ToAbsl(takes), ", "), .is_list = is_list};
}

}  // namespace kymo::tools
