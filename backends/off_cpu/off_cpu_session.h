// off_cpu_session.h - a recording of when threads had a CPU.
#ifndef KYMO_BACKENDS_OFF_CPU_OFF_CPU_SESSION_H_
#define KYMO_BACKENDS_OFF_CPU_OFF_CPU_SESSION_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo::off_cpu {

// The target is a child that waits before its exec. Its threads and children
// are followed from outside: they get no signal, and none of their calls ends
// early. Needs perf events.
std::unique_ptr<ActivitySession> NewOffCpuSession();

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_OFF_CPU_SESSION_H_
