// children_cpu.h - CPU time of the processes that this one started.
//
//   const DurationNs before = ChildrenCpuNs();
//   ... start a child; it ends ...
//   const DurationNs used = ChildrenCpuNs(child) - before;
//
// Threads: any.
#ifndef KYMO_PROFILER_BASE_CHILDREN_CPU_H_
#define KYMO_PROFILER_BASE_CHILDREN_CPU_H_

#include <sys/types.h>

#include "profiler/base/time.h"

namespace kymo {

// User and system time of this process's children that were waited for, and of
// theirs. The kernel leaves out time that a hypervisor took away, in which no
// tick can come either. The clock of perf events includes it. The same of the
// child `ended` is added if it has ended and nobody has waited for it yet.
DurationNs ChildrenCpuNs(pid_t ended = 0);

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_CHILDREN_CPU_H_
