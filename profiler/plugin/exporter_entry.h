// exporter_entry.h - make a shared library of exporters.
//
// Write this once in the library, at namespace scope:
//
//   KYMO_EXPORTER_LIBRARY(registry) {
//     std::unique_ptr<kymo::TraceExporter> exporter;   // one of yours
//     return registry.Register(std::move(exporter));
//   }
//
// The profile command (--export=PATH) and Profile::Export load the library and
// call the body. docs/add-an-exporter.md shows a whole library.
//
// Errors: the status of the body reaches the user, and the library is not used.
//   A library that was built for another Kymo is kFailedPrecondition.
#ifndef KYMO_PROFILER_PLUGIN_EXPORTER_ENTRY_H_
#define KYMO_PROFILER_PLUGIN_EXPORTER_ENTRY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// The version of what a library and its host share. It goes up with each change
// that the sizes below do not show.
inline constexpr uint64_t kExporterContract = 4;

// A number that must be equal in library and host.
inline constexpr uint64_t kExporterAbi =
    (kExporterContract << 32) + (sizeof(model::TraceData) << 16) +
    (sizeof(ExportOptions) << 8) + sizeof(PluginInfo) + __GXX_ABI_VERSION;

// The symbols of a library, for the code that loads it.
inline constexpr char kExporterAbiSymbol[] = "kymo_exporter_abi";
inline constexpr char kExporterRegisterSymbol[] = "kymo_register_exporters";
using RegisterExportersFunction = void (*)(ExporterRegistry* registry,
                                           absl::Status* status);

}  // namespace kymo

#define KYMO_EXPORTER_LIBRARY(registry)                                \
  static ::absl::Status KymoRegisterExporters(                         \
      ::kymo::ExporterRegistry& registry);                             \
  extern "C" {                                                         \
  __attribute__((                                                      \
      visibility("default"))) extern const uint64_t kymo_exporter_abi; \
  const uint64_t kymo_exporter_abi = ::kymo::kExporterAbi;             \
  __attribute__((visibility("default"))) void kymo_register_exporters( \
      ::kymo::ExporterRegistry* to, ::absl::Status* status) {          \
    *status = KymoRegisterExporters(*to);                              \
  }                                                                    \
  }                                                                    \
  static ::absl::Status KymoRegisterExporters(                         \
      ::kymo::ExporterRegistry& registry)

#endif  // KYMO_PROFILER_PLUGIN_EXPORTER_ENTRY_H_
