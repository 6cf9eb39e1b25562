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
// Only the first step is C: the library exports one function, which returns a
// struct with a version, as a library of a backend does (backend_plugin.h).
// Behind it an exporter gets a trace as C++ objects. So the library also says
// what it was built with, which must be what Kymo was built with.
//
// Errors: the status of the body reaches the user, and the library is not used.
//   A library that was built for another Kymo is kFailedPrecondition.
#ifndef KYMO_PROFILER_PLUGIN_EXPORTER_ENTRY_H_
#define KYMO_PROFILER_PLUGIN_EXPORTER_ENTRY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// The major number goes up with each change of what a library and Kymo share
// that ExporterAbi() does not show.
inline constexpr uint32_t kExporterVersion = 5u << 16;

// What a library and Kymo must have in common beside the version: the C++ ABI,
// and the sizes of the structs that both of them make.
inline std::string ExporterAbi() {
  return absl::StrCat("C++ ABI ", __GXX_ABI_VERSION, ", TraceData of ",
                      sizeof(model::TraceData), " bytes, ExportOptions of ",
                      sizeof(ExportOptions), ", PluginInfo of ",
                      sizeof(PluginInfo), ", OutputDirectory of ",
                      sizeof(OutputDirectory));
}

// What a library's function returns. The first two fields are the same in every
// version.
struct ExporterLibrary {
  uint32_t struct_size;
  uint32_t version;  // kExporterVersion
  const char* abi;   // ExporterAbi()
  void (*register_exporters)(ExporterRegistry* registry, absl::Status* status);
};

// That function, for the code that loads the library.
inline constexpr char kExporterLibrarySymbol[] = "kymo_exporter_library";
using ExporterLibraryFunction =
    const ExporterLibrary* (*)(uint32_t host_version);

}  // namespace kymo

#define KYMO_EXPORTER_LIBRARY(registry)                                       \
  static ::absl::Status KymoRegisterExporters(                                \
      ::kymo::ExporterRegistry& registry);                                    \
  extern "C" __attribute__((visibility("default")))                           \
  const ::kymo::ExporterLibrary* kymo_exporter_library(uint32_t);             \
  extern "C" const ::kymo::ExporterLibrary* kymo_exporter_library(uint32_t) { \
    static const auto& abi = *new ::std::string(::kymo::ExporterAbi());       \
    static const ::kymo::ExporterLibrary library = {                          \
        sizeof(library), ::kymo::kExporterVersion, abi.c_str(),               \
        [](::kymo::ExporterRegistry* to, ::absl::Status* status) {            \
          *status = KymoRegisterExporters(*to);                               \
        }};                                                                   \
    return &library;                                                          \
  }                                                                           \
  static ::absl::Status KymoRegisterExporters(                                \
      ::kymo::ExporterRegistry& registry)

#endif  // KYMO_PROFILER_PLUGIN_EXPORTER_ENTRY_H_
