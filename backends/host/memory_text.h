// memory_text.h - reads the texts of /proc/meminfo and /proc/vmstat.
//
//   const MemoryText memory = ParseMemory(text_of_meminfo);
//   const FaultText faults = ParseFaults(text_of_vmstat);
//
// The formats are those of proc(5). Numbers that are absent stay empty.
//
// Threads: any.
#ifndef KYMO_BACKENDS_HOST_MEMORY_TEXT_H_
#define KYMO_BACKENDS_HOST_MEMORY_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kymo::host {

// In bytes.
struct MemoryText {
  std::optional<uint64_t> used;  // all that is not available
  std::optional<uint64_t> available;
  std::optional<uint64_t> cached;  // files in memory, buffers included
};

MemoryText ParseMemory(std::string_view meminfo);

// Page faults since the machine's start.
struct FaultText {
  std::optional<uint64_t> minor;
  std::optional<uint64_t> major;
};

FaultText ParseFaults(std::string_view vmstat);

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_MEMORY_TEXT_H_
