// free_chunks.h - gives back the memory of an arena's free chunks.
//
//   reader.ReadAll(...);
//   DropFreeChunks(arena, fd);
//
// Threads: any number, but for those that still record. Call it when everything
// has been drained.
#ifndef KYMO_BACKENDS_STREAM_RAW_FREE_CHUNKS_H_
#define KYMO_BACKENDS_STREAM_RAW_FREE_CHUNKS_H_

#include "profiler/record/arena/arena.h"

namespace kymo::stream {

// `fd` is the file that begins with the arena: memory, or a raw file, whose
// disk space is given back. Chunks of threads that outlive the recording stay,
// because these may still write there. Where the file system has no holes,
// nothing happens.
void DropFreeChunks(const record::Arena& arena, int fd);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_FREE_CHUNKS_H_
