// raw_dump.h - what an arena holds at one moment, as a raw file.
//
//   KYMO_RETURN_IF_ERROR(WriteRawDump("out/dump-1.raw", arena, add_chunks));
//   ... //tools:report out/dump-1.raw
//
// The file is one that raw_file.h reads: the arena's tables, without chunks in
// it, the header, and the chunks behind them as drained ones. What an arena has
// reserved and not used is a hole in the file.
//
// Errors:  the errno's status, with the path; the file then is not there. It
//          appears under its name when it is complete.
// Threads: the recorders may run on. REQUIRES: nobody else reads the arena.
#ifndef KYMO_BACKENDS_CPU_RAW_RAW_DUMP_H_
#define KYMO_BACKENDS_CPU_RAW_RAW_DUMP_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "backends/cpu/raw/chunk_store.h"
#include "backends/cpu/raw/raw_header.h"
#include "profiler/record/arena/arena.h"

namespace kymo::cpu {

// `add_chunks` adds all chunks to the store that it is given, and returns the
// header, whose last anchor is then behind them.
absl::Status WriteRawDump(
    const std::string& path, const record::Arena& arena,
    const std::function<RawHeader(ChunkStore&)>& add_chunks);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_RAW_RAW_DUMP_H_
