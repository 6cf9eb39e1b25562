#include "profiler/base/children_cpu.h"

#include <sys/resource.h>

namespace kymo {

DurationNs ChildrenCpuNs() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto ns = [](const timeval& time) {
    return DurationNs{time.tv_sec} * kNsPerSecond + time.tv_usec * kNsPerUs;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

}  // namespace kymo
