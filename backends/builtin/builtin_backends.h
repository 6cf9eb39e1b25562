// builtin_backends.h - the list of the backends that Kymo brings.
#ifndef KYMO_BACKENDS_BUILTIN_BUILTIN_BACKENDS_H_
#define KYMO_BACKENDS_BUILTIN_BUILTIN_BACKENDS_H_

#include "absl/status/status.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// kAlreadyExists when one of their names is taken.
absl::Status RegisterBuiltinBackends(BackendRegistry& registry);

}  // namespace kymo

#endif  // KYMO_BACKENDS_BUILTIN_BUILTIN_BACKENDS_H_
