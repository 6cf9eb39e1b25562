// children_cpu.h - CPU time of the processes that this one started.
//
//   const DurationNs before = ChildrenCpuNs();
//   ... start a child, wait for it ...
//   const DurationNs used = ChildrenCpuNs() - before;
//
// Threads: any.
#ifndef KYMO_PROFILER_BASE_CHILDREN_CPU_H_
#define KYMO_PROFILER_BASE_CHILDREN_CPU_H_

#include "profiler/base/time.h"

namespace kymo {

// User and system time of this process's children that were waited for, and of
// theirs. The kernel leaves out time that a hypervisor took away, in which no
// tick can come either. The clock of perf events includes it.
DurationNs ChildrenCpuNs();

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_CHILDREN_CPU_H_
