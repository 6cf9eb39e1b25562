// heap_estimate.h - the memory for a trace whose heap is folded.
//
//   const auto bytes = FoldedTraceBytes(
//       {.chunks = chunks, .fold_above = 1'000'000, .most_bytes = limit});
//   if (bytes.has_value()) ...   // sums fit into the limit
//
// Sums need memory for the live blocks and for the different stacks, however
// many records there are (heap_fold.h). So the records are read once, chunk by
// chunk: the blocks that are alive in the end are the allocations less the
// frees, and stacks are told apart by hashes of their payloads.
//
// Cost: a hash for each stack; 50 bytes for each different one.
// Threads: none.
#ifndef KYMO_BACKENDS_STREAM_DECODE_HEAP_ESTIMATE_H_
#define KYMO_BACKENDS_STREAM_DECODE_HEAP_ESTIMATE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {

struct HeapToEstimate {
  std::span<const record::ChunkView> chunks;  // roughly by time
  uint64_t fold_above = ~uint64_t{0};         // as in DecodeInput
  bool others_record_ranges = false;          // as in DecodeInput
  uint64_t most_bytes = 0;
  // Called for each chunk that has been read; may be empty.
  std::function<void(const record::ChunkView&)> release = nullptr;
};

// The bytes that folding needs beside the mapped records. Nothing: it needs
// more than most_bytes, or the heap is not folded (DecodeInput).
std::optional<uint64_t> FoldedTraceBytes(const HeapToEstimate& heap);

// Whether the target says what its memory is for. The files show that of single
// records only.
bool SaysCategories(const record::Arena& arena);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_HEAP_ESTIMATE_H_
