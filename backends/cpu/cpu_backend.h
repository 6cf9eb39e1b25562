// cpu_backend.h - the `cpu` backend: annotated ranges, instants and counters.
//
// In this process it records into anonymous memory and reads it at Collect. For
// a child it makes a shared arena, names it in the child's environment, and
// drains it to disk while the child (and everything that the child starts)
// runs; what was recorded survives the sudden death of any of them.
//
// Settings: `arena_mib`   chunk memory, MiB (default 256; this process: 1024)
//           `when_full`   stop | overwrite | drain (default: stop in this
//                         process, drain for a child)
//           `keep_raw`    1: for a child, a raw file (raw_file.h)
//           `max_memory`  for a child, what its trace may take (default: three
//                         quarters of what is left); a larger one is kept as a
//                         raw file instead (kept_recording.h)
#ifndef KYMO_BACKENDS_CPU_CPU_BACKEND_H_
#define KYMO_BACKENDS_CPU_CPU_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewCpuBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_CPU_CPU_BACKEND_H_
