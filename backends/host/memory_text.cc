#include "backends/host/memory_text.h"

#include <limits>

#include "profiler/processes/text_fields.h"

namespace kymo::host {

using processes::NextCount;
using processes::NextLine;
using processes::NextWord;

MemoryText ParseMemory(std::string_view meminfo) {
  std::optional<uint64_t> total, available, free, buffers, page_cache;
  while (!meminfo.empty()) {
    std::string_view line = NextLine(meminfo);
    const std::string_view name = NextWord(line);
    std::optional<uint64_t> bytes = NextCount(line);
    if (!bytes || *bytes > std::numeric_limits<uint64_t>::max() / 1024) {
      continue;
    }
    *bytes *= 1024;
    if (name == "MemTotal:") total = bytes;
    if (name == "MemAvailable:") available = bytes;
    if (name == "MemFree:") free = bytes;
    if (name == "Buffers:") buffers = bytes;
    if (name == "Cached:") page_cache = bytes;
  }
  MemoryText memory;
  if (page_cache) memory.cached = *page_cache + buffers.value_or(0);
  // Kernels before 3.14 do not say what is available.
  memory.available = available;
  if (!available && free && memory.cached) {
    memory.available = *free + *memory.cached;
  }
  if (total && memory.available && *total >= *memory.available) {
    memory.used = *total - *memory.available;
  }
  return memory;
}

FaultText ParseFaults(std::string_view vmstat) {
  std::optional<uint64_t> all, major;
  while (!vmstat.empty()) {
    std::string_view line = NextLine(vmstat);
    const std::string_view name = NextWord(line);
    if (name == "pgfault") all = NextCount(line);
    if (name == "pgmajfault") major = NextCount(line);
  }
  FaultText faults;
  faults.major = major;
  // pgfault counts both kinds.
  if (all && major && *all >= *major) faults.minor = *all - *major;
  return faults;
}

}  // namespace kymo::host
