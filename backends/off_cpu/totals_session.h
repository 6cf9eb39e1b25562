// totals_session.h - a recording of how long threads had a CPU, without perf
// events.
//
// It reads the kernel's totals of each thread from /proc, again and again, and
// keeps the last that it saw. So times end up to one look before the thread
// did, and threads that live between two looks are missing. Nothing tells when
// a thread waited, or for what.
#ifndef KYMO_BACKENDS_OFF_CPU_TOTALS_SESSION_H_
#define KYMO_BACKENDS_OFF_CPU_TOTALS_SESSION_H_

#include <memory>

#include "backends/off_cpu/off_cpu_session.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::off_cpu {

// The target is a child that waits before its exec. Its threads and children
// are read from outside, at most 2 % of the time. With `own`, which must
// outlive the session, the target is this process without its children.
std::unique_ptr<ActivitySession> NewTotalsSession(
    const OwnProcess* own = nullptr);

// The same of processes that run already.
std::unique_ptr<ActivitySession> NewTotalsSession(RunningTarget running);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_TOTALS_SESSION_H_
