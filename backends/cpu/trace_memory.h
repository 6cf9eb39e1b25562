// trace_memory.h - whether the trace of a recording fits into memory.
//
//   KYMO_ASSIGN_OR_RETURN(const uint64_t limit, MemoryLimit(max_memory));
//   if (TraceMemoryBytes(chunk_bytes) > limit) ...   // in windows, then
//
// Records are 32 bytes a slot. Until a trace is made of them they are mapped,
// and beside them stand a shard and the trace with its columns: together two
// and a half times the records, as `/usr/bin/time -v profile ...` shows.
#ifndef KYMO_BACKENDS_CPU_TRACE_MEMORY_H_
#define KYMO_BACKENDS_CPU_TRACE_MEMORY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"

namespace kymo::cpu {

// "64MiB" or "2GiB", whole numbers from 1MiB to 1024GiB; else nothing.
std::optional<uint64_t> ParseByteCount(std::string_view text);

// What making a trace of so many bytes of records takes at its peak.
uint64_t TraceMemoryBytes(uint64_t chunk_bytes);

// What may be taken: as a setting says, or where it is empty three quarters of
// what this process may still take (available_memory.h). kInvalidArgument for
// what is no such count.
absl::StatusOr<uint64_t> MemoryLimit(std::string_view setting);

// Of a recording that is read in windows (raw_windows.h), so that one of them
// with its trace stays within half of the limit.
uint64_t WindowBytesFor(uint64_t memory_limit);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_TRACE_MEMORY_H_
