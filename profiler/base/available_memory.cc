#include "profiler/base/available_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "profiler/base/control_group.h"

namespace kymo {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

uint64_t LeftOf(uint64_t limit, uint64_t used) {
  return limit > used ? limit - used : 0;
}

uint64_t MachineHasLeft() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (uint64_t kib = 0; file >> key >> kib; file.ignore(80, '\n')) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return kUnlimited;
}

uint64_t ProcessMayTake(int resource, uint64_t used) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kUnlimited;
  }
  return LeftOf(limit.rlim_cur, used);
}

}  // namespace

uint64_t AvailableMemoryBytes() {
  // Pages: of the address space, then others, of data in the sixth place.
  std::ifstream file("/proc/self/statm");
  uint64_t pages[6] = {};
  for (uint64_t& count : pages) file >> count;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(
      {MachineHasLeft(),
       ControlGroupMemoryLeft("/proc/self/cgroup", "/sys/fs/cgroup"),
       ProcessMayTake(RLIMIT_AS, pages[0] * page),
       ProcessMayTake(RLIMIT_DATA, pages[5] * page)});
}

}  // namespace kymo
