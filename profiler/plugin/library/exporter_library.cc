#include "profiler/plugin/library/exporter_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kymo/exporter_plugin.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/exporter_entry.h"
#include "profiler/plugin/guarded_call.h"
#include "profiler/plugin/library/library_version.h"
#include "profiler/plugin/library/plugin_exporter.h"

namespace kymo {
namespace {

std::vector<std::string> Names(const ExporterRegistry& registry) {
  std::vector<std::string> names;
  for (const TraceExporter* exporter : registry.List()) {
    names.push_back(exporter->info().name);
  }
  return names;
}

constexpr char kPluginSymbol[] = "kymo_exporter_plugin";
using PluginFunction = const KymoExporterPlugin* (*)(uint32_t host_version);

// Calls a function of the library at `path`.
template <typename Function>
absl::Status Guarded(const std::string& path, const char* call,
                     Function function) {
  const absl::Status status = GuardedCall(call, [&] {
    function();
    return absl::OkStatus();
  });
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat("'", path, "' cannot be used: ", status.message()));
}

// kymo/exporter_plugin.h
absl::Status LoadPlugin(const std::string& path, PluginFunction entry,
                        ExporterRegistry& registry) {
  const KymoExporterPlugin* plugin = nullptr;
  KYMO_RETURN_IF_ERROR(Guarded(path, kPluginSymbol,
                               [&] { plugin = entry(KYMO_PLUGIN_VERSION); }));
  KYMO_ASSIGN_OR_RETURN(std::unique_ptr<TraceExporter> exporter,
                        AdaptExporter(plugin, path));
  return registry.Register(std::move(exporter));
}

// kymo/exporter.h
absl::Status LoadCpp(const std::string& path, ExporterLibraryFunction entry,
                     ExporterRegistry& registry) {
  const LibraryFacts facts = {path, "exporter", "kymo/exporter.h"};
  const ExporterLibrary* exporters = nullptr;
  KYMO_RETURN_IF_ERROR(Guarded(path, kExporterLibrarySymbol,
                               [&] { exporters = entry(kExporterVersion); }));
  if (exporters == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", path, "' does not work with version ",
                     VersionText(kExporterVersion),
                     " of the exporter interface, which this Kymo has; ",
                     HowToMakeItFit(facts)));
  }
  KYMO_RETURN_IF_ERROR(
      CheckLibraryVersion(facts, exporters->version, kExporterVersion));
  if (exporters->struct_size < sizeof(ExporterLibrary) ||
      exporters->abi == nullptr || exporters->register_exporters == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", path, "' describes itself incompletely; ", HowToMakeItFit(facts)));
  }
  if (exporters->abi != ExporterAbi()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", path, "' was built with ", exporters->abi, ", and this Kymo with ",
        ExporterAbi(), "; ", HowToMakeItFit(facts)));
  }
  absl::Status status;
  KYMO_RETURN_IF_ERROR(Guarded(path, "registering its exporters", [&] {
    exporters->register_exporters(&registry, &status);
  }));
  return status;
}

absl::Status Load(const std::string& path, ExporterRegistry& registry) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("cannot load the exporter library: ", dlerror()));
  }
  if (const auto entry =
          reinterpret_cast<PluginFunction>(dlsym(library, kPluginSymbol))) {
    return LoadPlugin(path, entry, registry);
  }
  if (const auto entry = reinterpret_cast<ExporterLibraryFunction>(
          dlsym(library, kExporterLibrarySymbol))) {
    return LoadCpp(path, entry, registry);
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "'", path, "' is not an exporter library of this Kymo: it lacks the ",
      "function ", kPluginSymbol, " of kymo/exporter_plugin.h, and the ",
      "function ", kExporterLibrarySymbol, " of kymo/exporter.h"));
}

}  // namespace

bool IsExporterPath(std::string_view word) {
  return word.find('/') != std::string_view::npos;
}

absl::StatusOr<std::vector<std::string>> FindExporters(
    const std::string& word, ExporterRegistry& registry) {
  if (!IsExporterPath(word)) {
    if (registry.Find(word) != nullptr) return std::vector<std::string>{word};
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no exporter '", word, "'; it is one of: ", registry.Names(),
        ", or the path of an exporter library"));
  }
  const std::vector<std::string> before = Names(registry);
  KYMO_RETURN_IF_ERROR(Load(word, registry));
  const std::vector<std::string> after = Names(registry);
  std::vector<std::string> added;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(added));
  return added;
}

}  // namespace kymo
