// available_memory.h - how much memory this process may still take.
//
//   if (needed_bytes > AvailableMemoryBytes() / 4 * 3) ...
//
// The least of what the machine has left (MemAvailable, which counts the page
// cache as free), what the process' control groups may still take
// (control_group.h), and the limits of address space and data. What cannot be
// read is no limit.
#ifndef KYMO_PROFILER_BASE_AVAILABLE_MEMORY_H_
#define KYMO_PROFILER_BASE_AVAILABLE_MEMORY_H_

#include <cstdint>

namespace kymo {

// Reads a few files below /proc and /sys. Never fails.
uint64_t AvailableMemoryBytes();

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_AVAILABLE_MEMORY_H_
