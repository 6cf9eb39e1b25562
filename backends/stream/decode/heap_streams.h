// heap_streams.h - folds the heap's records of all threads.
//
//   HeapStreams streams = {.streams = {...}, .clock = clock, ...};
//   if (AreInOrder(streams)) shard.folded_memory = FoldHeap(streams, ledger);
//
// A block may be freed by another thread than the one that allocated it. So the
// records of all threads are read in the order of their times; records of one
// time in the order of the streams. A chunk is read when its turn comes.
//
// Memory: one chunk's records for each thread that is recording at the moment,
//   22 to 29 bytes for each different stack, and what heap_fold.h keeps.
// Threads: none. Errors: a free at address 0 is counted
//   (kFreesOfUnknownBlocks).
#ifndef KYMO_BACKENDS_STREAM_DECODE_HEAP_STREAMS_H_
#define KYMO_BACKENDS_STREAM_DECODE_HEAP_STREAMS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/stream/decode/decode_chunk.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {

// By pid: the times, in order, at which another program replaced the process's
// program.
using LaterPrograms = std::map<int64_t, std::vector<TimeNs>>;

LaterPrograms LaterProgramsOf(std::span<const model::Process> processes);

struct HeapStreams {
  struct Stream {
    int64_t pid = 0;
    model::TrackIndex track = 0;
    std::vector<const Chunk*> chunks;  // with heap records, by ticket
  };
  std::vector<Stream> streams;
  const TickConverter& clock;
  std::span<const TickInterval> recorded;  // as in DecodeInput
  LaterPrograms later_programs;
  // Whether ranges may enclose the records (HeapFold::With::kChanges).
  bool with_changes = false;
  // The stack that a payload is, or a number for it. Called once for each
  // different one.
  std::function<model::StackId(std::span<const record::Slot>, int64_t pid)>
      stack;
  // Called for each chunk whose records have been read; may be empty.
  std::function<void(const record::ChunkView&)> release;
};

// Whether no chunk of a stream has records from before the chunk ahead of it.
// If a thread's clock went back, it may have: then keep single records.
bool AreInOrder(const HeapStreams& streams);

// REQUIRES: AreInOrder. From then on, malloc of this process gives blocks of 1
// MiB and more back when they are freed.
std::shared_ptr<model::FoldedMemory> FoldHeap(const HeapStreams& streams,
                                              model::LossLedger& ledger);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_HEAP_STREAMS_H_
