// plugin_exporter.h - an exporter of a library (kymo/exporter_plugin.h) as a
// TraceExporter. For exporter_library.h.
//
//   KYMO_ASSIGN_OR_RETURN(std::unique_ptr<TraceExporter> exporter,
//                         AdaptExporter(plugin, "./libnames.so"));
//
// The library's struct and everything that it asks for and writes is checked:
// sizes, indices, names of files.
//
// Errors: exporting is an error if the library returns one, lets an exception
//   out or could not write, even if it goes on then. No file is left.
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_EXPORTER_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_EXPORTER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kymo/exporter_plugin.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo {

// `plugin` must stay as it is for ever. `path` is the library's, for messages.
//   kFailedPrecondition  it is of another version, or contradicts
//                        kymo/exporter_plugin.h
absl::StatusOr<std::unique_ptr<TraceExporter>> AdaptExporter(
    const KymoExporterPlugin* plugin, const std::string& path);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_EXPORTER_H_
