// exporter_words.h - what --export of a command means.
//
//   absl::GetFlag(FLAGS_export)    // "chrome,./libcsv_exporter.so"
//   FindAllExporters(words, exporters)    // {"chrome", "csv"}
#ifndef KYMO_TOOLS_COMMAND_LINE_EXPORTER_WORDS_H_
#define KYMO_TOOLS_COMMAND_LINE_EXPORTER_WORDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/registry.h"

namespace kymo::tools {

// Names of exporters, each once and in the order of the words: names, or paths
// of libraries, which are loaded. Empty words are left out. Errors are those of
// FindExporters.
absl::StatusOr<std::vector<std::string>> FindAllExporters(
    const std::vector<std::string>& words, ExporterRegistry& exporters);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_EXPORTER_WORDS_H_
