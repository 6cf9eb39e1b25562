// builtin_importers.h - the list of Kymo's own importers.
//
//   ImporterRegistry registry;
//   KYMO_RETURN_IF_ERROR(RegisterBuiltinImporters(registry));
#ifndef KYMO_IMPORTERS_BUILTIN_BUILTIN_IMPORTERS_H_
#define KYMO_IMPORTERS_BUILTIN_BUILTIN_IMPORTERS_H_

#include "absl/status/status.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// kAlreadyExists if one of their names is taken.
absl::Status RegisterBuiltinImporters(ImporterRegistry& registry);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_BUILTIN_BUILTIN_IMPORTERS_H_
