#include "tools/command_line/shared_flags.h"

#include <optional>
#include <string_view>

namespace kymo::tools {

SettingValue<SharedFlags> MaxSizeValue() {
  using Shared = SharedFlags;
  return setting::Custom<Shared, uint64_t>(
      &Shared::max_size,
      [](std::string_view text) {
        return text == "0" ? std::optional<uint64_t>(0) : ParseBytes(text);
      },
      [](uint64_t bytes) {
        return bytes == 0 ? "0" : setting::FormatBytes(bytes);
      },
      "0, or a whole number and KiB, MiB or GiB", "BYTES");
}

std::vector<std::string> SortWords(std::vector<std::string> further) {
  for (const std::string_view key : report::TableSortKeys()) {
    further.emplace_back(key);
  }
  return further;
}

}  // namespace kymo::tools
