// trace_memory.h - whether the trace of a recording fits into memory.
//
//   const uint64_t limit = MemoryLimit(settings.max_memory);
//   if (TraceMemoryBytes(chunk_bytes) > limit) ...   // in windows, then
//
// Records are 32 bytes a slot. Until a trace is made of them they are mapped,
// and beside them stand a shard and the trace with its columns: together two
// and a half times the records, as `/usr/bin/time -v profile ...` shows.
#ifndef KYMO_BACKENDS_CPU_TRACE_MEMORY_H_
#define KYMO_BACKENDS_CPU_TRACE_MEMORY_H_

#include <cstdint>
#include <optional>

namespace kymo::cpu {

// What a user may set the limit to.
inline constexpr uint64_t kLeastMemoryLimit = uint64_t{1} << 20;
inline constexpr uint64_t kMostMemoryLimit = uint64_t{1} << 40;

// What making a trace of so many bytes of records takes at its peak.
uint64_t TraceMemoryBytes(uint64_t chunk_bytes);

// What may be taken, in bytes: what is wanted, or without that three quarters
// of what this process may still take (available_memory.h).
uint64_t MemoryLimit(std::optional<uint64_t> wanted);

// Of a recording that is read in windows (raw_windows.h), so that one of them
// with its trace stays within half of the limit.
uint64_t WindowBytesFor(uint64_t memory_limit);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_TRACE_MEMORY_H_
