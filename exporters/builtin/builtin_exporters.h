// builtin_exporters.h - the list of the exporters that Kymo brings.
//
//   ExporterRegistry registry;
//   KYMO_RETURN_IF_ERROR(RegisterBuiltinExporters(registry));
#ifndef KYMO_EXPORTERS_BUILTIN_BUILTIN_EXPORTERS_H_
#define KYMO_EXPORTERS_BUILTIN_BUILTIN_EXPORTERS_H_

#include "absl/status/status.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// kAlreadyExists when one of their names is taken.
absl::Status RegisterBuiltinExporters(ExporterRegistry& registry);

}  // namespace kymo

#endif  // KYMO_EXPORTERS_BUILTIN_BUILTIN_EXPORTERS_H_
