// A library of exporters that does not fit this Kymo. It has another version,
// or, with KYMO_SAME_VERSION, was built with something else.
#include <cstdint>
#include <cstdlib>

#include "profiler/plugin/exporter_entry.h"

#ifdef KYMO_SAME_VERSION
constexpr uint32_t kVersion = kymo::kExporterVersion;
#else
constexpr uint32_t kVersion = 3u << 16 | 1;
#endif

extern "C" const kymo::ExporterLibrary* kymo_exporter_library(uint32_t);
extern "C" const kymo::ExporterLibrary* kymo_exporter_library(uint32_t) {
  static const kymo::ExporterLibrary library = {
      sizeof(library), kVersion, "another compiler",
      [](kymo::ExporterRegistry*, absl::Status*) { abort(); }};
  return &library;
}
