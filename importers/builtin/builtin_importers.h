// builtin_importers.h - the list of the importers that Kymo brings.
//
//   ImporterRegistry registry;
//   KYMO_RETURN_IF_ERROR(RegisterBuiltinImporters(registry));
#ifndef KYMO_IMPORTERS_BUILTIN_BUILTIN_IMPORTERS_H_
#define KYMO_IMPORTERS_BUILTIN_BUILTIN_IMPORTERS_H_

#include "absl/status/status.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// kAlreadyExists when one of their names is taken.
absl::Status RegisterBuiltinImporters(ImporterRegistry& registry);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_BUILTIN_BUILTIN_IMPORTERS_H_
