// trace_memory.h - whether the trace of a recording fits into memory.
//
//   const uint64_t limit = MemoryLimit(settings.max_memory);
//   if (TraceMemoryBytes(chunk_bytes) > limit) ...   // in windows, then
//
// Records take 32 bytes a slot. They stay mapped until the trace is made,
// beside a shard and the trace with its columns. Together these take two and a
// half times the records' bytes, as `/usr/bin/time -v profile ...` shows.
#ifndef KYMO_BACKENDS_STREAM_TRACE_MEMORY_H_
#define KYMO_BACKENDS_STREAM_TRACE_MEMORY_H_

#include <cstdint>
#include <optional>

namespace kymo::stream {

inline constexpr uint64_t kMib = uint64_t{1} << 20;

// The smallest limit that a user may set.
inline constexpr uint64_t kLeastMemoryLimit = kMib;
inline constexpr uint64_t kMostMemoryLimit = uint64_t{1} << 40;

// The peak of memory for making a trace of so many bytes of records.
uint64_t TraceMemoryBytes(uint64_t chunk_bytes);

// The most bytes of records whose trace takes so much.
uint64_t RecordBytesFor(uint64_t memory_bytes);

// The limit in bytes: the user's, or three quarters of the memory that this
// process may still take.
uint64_t MemoryLimit(std::optional<uint64_t> wanted);

// The size of a window for recordings that are read in windows (raw_windows.h).
// One window and its trace take at most half of the limit.
uint64_t WindowBytesFor(uint64_t memory_limit);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_TRACE_MEMORY_H_
