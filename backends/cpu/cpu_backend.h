// cpu_backend.h - the `cpu` backend: annotated ranges, instants and counters.
//
// In this process it records into anonymous memory and reads it at Collect. For
// a child it makes a shared arena and names it in the child's environment.
// While the child and its descendants run, it drains the arena to disk. The
// records survive the sudden death of any of these processes.
//
// Its settings are declared in cpu_settings.cc. With cpu_keep_raw a child
// leaves a raw file (raw_file.h). So does a child whose trace would take more
// than cpu_max_memory (kept_recording.h).
#ifndef KYMO_BACKENDS_CPU_CPU_BACKEND_H_
#define KYMO_BACKENDS_CPU_CPU_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewCpuBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_CPU_CPU_BACKEND_H_
