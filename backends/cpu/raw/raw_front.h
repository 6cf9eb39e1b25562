// raw_front.h - what stands in front of a raw file's chunks (raw_file.h).
//
//   KYMO_RETURN_IF_ERROR(WriteRawFront(fd, path, arena, header));
//
// Writes an arena's tables, as if it had no chunks, and the header, to where
// RawParts reads them. What the arena has reserved and not used stays a hole.
//
// Errors:  the errno's status, with the path.
// Threads: the recorders may run on; what chunks name must be there already.
#ifndef KYMO_BACKENDS_CPU_RAW_RAW_FRONT_H_
#define KYMO_BACKENDS_CPU_RAW_RAW_FRONT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "backends/cpu/raw/raw_header.h"
#include "profiler/record/arena/arena.h"

namespace kymo::cpu {

// Where the chunks begin.
inline uint64_t RawChunksBegin(const record::Arena& arena) {
  return arena.bytes() + kRawHeaderBytes;
}

// `path` is for messages.
absl::Status WriteRawFront(int fd, const std::string& path,
                           const record::Arena& arena, const RawHeader& header);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_RAW_RAW_FRONT_H_
