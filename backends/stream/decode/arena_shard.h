// arena_shard.h - an arena's tables as a shard: streams to tracks, processes,
// losses; and its chunks through the decoder.
#ifndef KYMO_BACKENDS_STREAM_DECODE_ARENA_SHARD_H_
#define KYMO_BACKENDS_STREAM_DECODE_ARENA_SHARD_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "backends/stream/decode/loss_counters.h"
#include "profiler/base/clock.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {

LossCounters ReadLosses(const record::Arena& arena);

// The heap counts of one stream so far.
struct HeapNumbers {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t allocated_bytes = 0;
};
std::vector<HeapNumbers> ReadHeapNumbers(const record::Arena& arena);

// An overwriting arena does not know which records it dropped. An end without a
// beginning belongs to a dropped range.
inline constexpr uint64_t kNoFirstTicket = ~uint64_t{0};

struct ArenaShardInput {
  const record::Arena& arena;
  std::vector<record::ChunkView> chunks;
  TickConverter clock;
  uint64_t first_ticket = 0;
  LossCounters losses_at_start;
  // False: another call counts what the target could not record.
  bool with_losses = true;
  // As in DecodeInput.
  std::vector<TickInterval> recorded = {};
  // By stream; shorter where streams came later.
  std::vector<HeapNumbers> heap_at_start = {};
  uint64_t heap_sample_interval = 0;  // bytes; 0 = every allocation
  WantedDetails details = {};
  // False: memory records belong to another session.
  bool with_memory = true;
  // False: a session of one process, which ignores its children.
  bool with_children = true;
  // True: events have no stacks, and memory records are left out and counted.
  bool only_ranges = false;
  // True: overwritten records count as lost, because the user asked for a time
  // to keep. False: the user asked for the newest records that fit.
  bool was_to_hold_time = false;
  std::function<bool(uint64_t ticket)> is_elsewhere = {};
  // As in DecodeInput. Sampled heaps are never folded.
  uint64_t fold_heap_above = ~uint64_t{0};
  bool others_record_ranges = false;  // as in DecodeInput
  std::function<void(const record::ChunkView&)> release = {};
  // Epoch minus CLOCK_MONOTONIC on the machine that recorded.
  int64_t epoch_offset_ns = EpochOffsetNs();
};

// Returns what DecodeChunks does.
std::vector<DecodedChunk> FillShard(ArenaShardInput input,
                                    model::TraceShard& shard);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_ARENA_SHARD_H_
