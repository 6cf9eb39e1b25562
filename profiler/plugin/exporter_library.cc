#include "profiler/plugin/exporter_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/exporter_entry.h"

namespace kymo {
namespace {

std::vector<std::string> Names(const ExporterRegistry& registry) {
  std::vector<std::string> names;
  for (const TraceExporter* exporter : registry.List()) {
    names.push_back(exporter->info().name);
  }
  return names;
}

absl::Status Load(const std::string& path, ExporterRegistry& registry) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("cannot load the exporter library: ", dlerror()));
  }
  const auto* const abi =
      static_cast<const uint64_t*>(dlsym(library, kExporterAbiSymbol));
  const auto function = reinterpret_cast<RegisterExportersFunction>(
      dlsym(library, kExporterRegisterSymbol));
  if (abi == nullptr || function == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", path,
                     "' is not an exporter library: it lacks "
                     "KYMO_EXPORTER_LIBRARY of kymo/exporter.h"));
  }
  if (*abi != kExporterAbi) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", path,
        "' was built for another Kymo; build it again with this one's "
        "kymo/exporter.h"));
  }
  absl::Status status;
  function(&registry, &status);
  return status;
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
