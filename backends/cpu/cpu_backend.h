// cpu_backend.h - the `cpu` backend: annotated ranges, instants and counters.
//
// backends/stream/stream_session.h says how they are recorded, and
// backends/stream/stream_settings.cc declares the settings of the recording.
#ifndef KYMO_BACKENDS_CPU_CPU_BACKEND_H_
#define KYMO_BACKENDS_CPU_CPU_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewCpuBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_CPU_CPU_BACKEND_H_
