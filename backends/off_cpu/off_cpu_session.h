// off_cpu_session.h - a recording of when threads had a CPU.
#ifndef KYMO_BACKENDS_OFF_CPU_OFF_CPU_SESSION_H_
#define KYMO_BACKENDS_OFF_CPU_OFF_CPU_SESSION_H_

#include <sys/types.h>

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo::off_cpu {

// What finds the stacks of waits. Samples need more rights than looks
// (wait_causes.h); without these, there are looks only.
enum class StackSource { kSamplesAndLooks, kLooks };

// What a session of this process has to know before its start.
struct OwnProcess {
  // The thread that polls the session. It is none of the program's.
  pid_t collector_tid = 0;
};

// The target is a child that waits before its exec. Its threads and children
// are followed from outside: they get no signal, and none of their calls ends
// early. With `own`, which must outlive the session, the target is this process
// without its children. Needs perf events.
std::unique_ptr<ActivitySession> NewOffCpuSession(
    StackSource source, const OwnProcess* own = nullptr);

// The same of processes that run already, in which there are no hooks. Events
// of all that the machine runs have no samples.
std::unique_ptr<ActivitySession> NewOffCpuSession(StackSource source,
                                                  RunningTarget running);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_OFF_CPU_SESSION_H_
