// exporter_entry.h - what makes a shared library one of exporters.
//
//   KYMO_EXPORTER_LIBRARY(registry) {
//     return registry.Register(std::make_unique<CsvExporter>());
//   }
//
// Once in a library, at namespace scope.
#ifndef KYMO_PROFILER_PLUGIN_EXPORTER_ENTRY_H_
#define KYMO_PROFILER_PLUGIN_EXPORTER_ENTRY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// Counts up with every change of what a library and its host share that the
// sizes below do not show.
inline constexpr uint64_t kExporterContract = 3;

// What library and host must agree on.
inline constexpr uint64_t kExporterAbi =
    (kExporterContract << 32) + (sizeof(model::TraceData) << 16) +
    (sizeof(ExportOptions) << 8) + sizeof(PluginInfo) + __GXX_ABI_VERSION;

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
