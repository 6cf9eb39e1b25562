// raw_dump.h - writes an arena's present contents to a raw file.
//
//   KYMO_RETURN_IF_ERROR(WriteRawDump("out/dump-1.raw", arena, add_chunks));
//   ... //tools:report out/dump-1.raw
//
// raw_file.h reads the file. It has the arena's tables without chunks, the
// header, and then the chunks as drained ones. Parts that the arena has
// reserved and not used are holes in the file.
//
// Errors:  the errno's status, with the path; there is no file then. The file
//          gets its name when it is complete.
// Threads: the recorders may run on. REQUIRES: nobody else reads the arena.
#ifndef KYMO_BACKENDS_STREAM_RAW_RAW_DUMP_H_
#define KYMO_BACKENDS_STREAM_RAW_RAW_DUMP_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/raw_header.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {

// `add_chunks` adds all chunks to the store that it is given, and returns the
// header. The header's last anchor must be later than all chunks.
absl::Status WriteRawDump(
    const std::string& path, const record::Arena& arena,
    const std::function<RawHeader(ChunkStore&)>& add_chunks);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_RAW_DUMP_H_
