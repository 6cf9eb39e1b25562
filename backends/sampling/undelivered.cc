#include "backends/sampling/undelivered.h"

#include <sys/resource.h>

namespace kymo::sampling {

DurationNs ChildrenCpuNs() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto ns = [](const timeval& time) {
    return int64_t{time.tv_sec} * kNsPerSecond + time.tv_usec * kNsPerUs;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

}  // namespace kymo::sampling
