// A library of exporters that cannot be used. It has another version or, with
// KYMO_SAME_VERSION, was built with something else. With KYMO_THROWS it fits,
// and throws when it is asked for its exporters.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "profiler/plugin/exporter_entry.h"

#ifdef KYMO_SAME_VERSION
constexpr uint32_t kVersion = kymo::kExporterVersion;
#else
constexpr uint32_t kVersion = 3u << 16 | 1;
#endif

extern "C" const kymo::ExporterLibrary* kymo_exporter_library(uint32_t);
extern "C" const kymo::ExporterLibrary* kymo_exporter_library(uint32_t) {
#ifdef KYMO_THROWS
  static const auto& abi = *new std::string(kymo::ExporterAbi());
  static const kymo::ExporterLibrary throws = {
      sizeof(throws), kymo::kExporterVersion, abi.c_str(),
      [](kymo::ExporterRegistry*, absl::Status*) {
        throw std::runtime_error("no luck");
      }};
  return &throws;
#else
  static const kymo::ExporterLibrary library = {
      sizeof(library), kVersion, "another compiler",
      [](kymo::ExporterRegistry*, absl::Status*) { abort(); }};
  return &library;
#endif
}
