#include "tools/command_line/exporter_words.h"

#include <algorithm>

#include "profiler/base/status_macros.h"
#include "profiler/plugin/library/exporter_library.h"

namespace kymo::tools {

absl::StatusOr<std::vector<std::string>> FindAllExporters(
    const std::vector<std::string>& words, ExporterRegistry& exporters) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    KYMO_ASSIGN_OR_RETURN(const std::vector<std::string> found,
                          FindExporters(word, exporters));
    for (const std::string& name : found) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

}  // namespace kymo::tools
