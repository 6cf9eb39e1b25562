// exporter_library.h - loads a user's exporters from a shared library.
//
//   ExporterRegistry registry;
//   KYMO_ASSIGN_OR_RETURN(std::vector<std::string> names,
//                         FindExporters("./libcsv_exporter.so", registry));
//   // registry.Find(names[0])
//
// There are two kinds. A library of kymo/exporter_plugin.h is written in C: it
// may come from another compiler and another Kymo, as long as the major version
// is the same. A library of kymo/exporter.h gets a trace as C++ objects. So it
// is built with the same Kymo and the same compiler: first the versions are
// compared, and what both were built with.
//
// A library stays loaded until the process ends, because its exporters may.
// Threads: registration needs exclusive access.
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_EXPORTER_LIBRARY_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_EXPORTER_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// Whether `word` names a library rather than an exporter: it has a slash.
bool IsExporterPath(std::string_view word);

// The names of the exporters that `word` stands for: itself, or those of the
// library at that path, which is loaded and registers them.
//   kInvalidArgument    no exporter of that name; the message lists them
//   kNotFound           the library cannot be loaded; says what dlopen says
//   kFailedPrecondition not an exporter library, or built for another Kymo
//   kAlreadyExists      one of its names is taken
absl::StatusOr<std::vector<std::string>> FindExporters(
    const std::string& word, ExporterRegistry& registry);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_EXPORTER_LIBRARY_H_
