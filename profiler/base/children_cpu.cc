#include "profiler/base/children_cpu.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kymo {
namespace {

DurationNs CpuNs(const rusage& usage) {
  const auto ns = [](const timeval& time) {
    return DurationNs{time.tv_sec} * kNsPerSecond + time.tv_usec * kNsPerUs;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

}  // namespace

DurationNs ChildrenCpuNs(pid_t ended) {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  DurationNs cpu_ns = CpuNs(usage);
  if (ended == 0) return cpu_ns;
  // The C library's waitid leaves out the usage, which is the child's and that
  // of the children for which it waited.
  siginfo_t info{};
  rusage of_ended{};
  if (syscall(SYS_waitid, P_PID, ended, &info, WEXITED | WNOHANG | WNOWAIT,
              &of_ended) == 0 &&
      info.si_pid == ended) {
    cpu_ns += CpuNs(of_ended);
  }
  return cpu_ns;
}

}  // namespace kymo
