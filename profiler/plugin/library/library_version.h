// library_version.h - the versions that a loaded library and Kymo compare.
//
//   // "'./libmine.so' was built for version 2.3 of the backend interface, and
//   // this Kymo has version 1.0; build it again with ..."
//   KYMO_RETURN_IF_ERROR(CheckLibraryVersion(
//       {path, "backend", "kymo/backend_plugin.h"}, theirs, ours));
//
// A version is a major number, 16 bits left, and a minor one. A library fits if
// its major number is ours. kymo/backend_plugin.h says what minor versions are
// for.
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_LIBRARY_VERSION_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_LIBRARY_VERSION_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace kymo {

struct LibraryFacts {
  std::string path;
  std::string kind;    // "backend", "exporter"
  std::string header;  // that it was compiled with
};

// "2.3".
std::string VersionText(uint32_t version);

// "build it again with the kymo/backend_plugin.h of this Kymo, or use the Kymo
// that it was built for".
std::string HowToMakeItFit(const LibraryFacts& library);

// kFailedPrecondition if the major numbers differ.
absl::Status CheckLibraryVersion(const LibraryFacts& library, uint32_t theirs,
                                 uint32_t ours);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_LIBRARY_VERSION_H_
