#include "tools/command_line/shared_flags.h"

#include <string_view>

namespace kymo::tools {

std::vector<std::string> SortWords(std::vector<std::string> further) {
  for (const std::string_view key : report::TableSortKeys()) {
    further.emplace_back(key);
  }
  return further;
}

}  // namespace kymo::tools
