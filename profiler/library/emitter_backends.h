// emitter_backends.h - the backends `emit_nvtx` and `emit_itt`.
//
// They record nothing: while a session runs, the operations of the program are
// ranges in the tool that listens to NVTX or ITT, as with kymo/emit_nvtx.h and
// kymo/emit_itt.h. They work within a program only.
#ifndef KYMO_PROFILER_LIBRARY_EMITTER_BACKENDS_H_
#define KYMO_PROFILER_LIBRARY_EMITTER_BACKENDS_H_

#include <memory>

#include "absl/status/status.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/registry.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewNvtxEmitterBackend();
std::unique_ptr<ActivityBackend> NewIttEmitterBackend();

// kAlreadyExists when one of their names is taken.
absl::Status RegisterEmitterBackends(BackendRegistry& registry);

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_EMITTER_BACKENDS_H_
