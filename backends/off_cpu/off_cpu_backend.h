// off_cpu_backend.h - the backend that tells how long threads ran and waited.
#ifndef KYMO_BACKENDS_OFF_CPU_OFF_CPU_BACKEND_H_
#define KYMO_BACKENDS_OFF_CPU_OFF_CPU_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewOffCpuBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_OFF_CPU_OFF_CPU_BACKEND_H_
