// raw_front.h - writes the front of a raw file (raw_file.h), before its chunks.
//
//   KYMO_RETURN_IF_ERROR(WriteRawFront(fd, path, arena, header));
//
// Writes an arena's tables, as if it had no chunks, and the header, to where
// RawParts reads them. Reserved and unused parts of the arena stay holes.
//
// Errors:  the errno's status, with the path.
// Threads: the recorders may run on. All names that the chunks use must be
// stored before.
#ifndef KYMO_BACKENDS_STREAM_RAW_RAW_FRONT_H_
#define KYMO_BACKENDS_STREAM_RAW_RAW_FRONT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "backends/stream/raw/raw_header.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {

// Where the chunks begin.
inline uint64_t RawChunksBegin(const record::Arena& arena) {
  return arena.bytes() + kRawHeaderBytes;
}

// `path` is for messages.
absl::Status WriteRawFront(int fd, const std::string& path,
                           const record::Arena& arena, const RawHeader& header);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_RAW_FRONT_H_
