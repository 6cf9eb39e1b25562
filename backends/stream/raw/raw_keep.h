// raw_keep.h - names a recording's unnamed file, as a raw file.
//
//   ChunkStore store;
//   store.Open(folder, RawChunksBegin(arena));    // a file without a name
//   ... store.Add(chunk) ...
//   KYMO_RETURN_IF_ERROR(
//       KeepRawFile(store.fd(), folder + "/kymo.raw", arena, header));
//
// If the file system can name such a file, nothing is copied. If not, the file
// is copied block by block, and each copied block is given back to the disk.
//
// Errors: the errno's status, with the path. The part that was copied stays
//   there; readers take it for a recording that was cut off.
#ifndef KYMO_BACKENDS_STREAM_RAW_RAW_KEEP_H_
#define KYMO_BACKENDS_STREAM_RAW_RAW_KEEP_H_

#include <string>

#include "absl/status/status.h"
#include "backends/stream/raw/raw_header.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {

// Replaces a file of that name. REQUIRES: `fd` has the chunks where
// RawChunksBegin() says, and nothing in front of them.
absl::Status KeepRawFile(int fd, const std::string& path,
                         const record::Arena& arena, const RawHeader& header);

// The second way, on any file system. `from` is empty afterwards.
absl::Status MoveContents(int from, const std::string& path);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_RAW_KEEP_H_
