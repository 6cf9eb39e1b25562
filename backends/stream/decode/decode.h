// decode.h - turns chunks of slots into a shard's columns.
//
// Trust: the slots come from the target, so every field is checked. A slot that
// cannot be a record is skipped and counted (kRecordsCorrupt).
#ifndef KYMO_BACKENDS_STREAM_DECODE_DECODE_H_
#define KYMO_BACKENDS_STREAM_DECODE_DECODE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/stream/decode/decode_chunk.h"
#include "backends/stream/decode/decode_payload.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {

struct DecodeInput {
  // In any order. Views must stay valid during the call.
  std::vector<record::ChunkView> chunks;
  // The track of each stream, by stream id; kNoTrack where there is none.
  std::vector<model::TrackIndex> stream_tracks;
  // The text of a name id. REQUIRES: returns some text for any id.
  std::function<std::string_view(uint32_t)> name_text;
  // All name ids are below. A larger id is shown as kNameLost. Costs 4 bytes
  // per id.
  uint32_t name_limit = 0;
  TickConverter clock;
  // Chunks with smaller tickets belong to an earlier session.
  uint64_t first_ticket = 0;
  // Records that begin outside of these intervals belong to another session.
  // Empty: all records belong to this one. Sorted, and without overlaps.
  std::vector<TickInterval> recorded;
  // Called with each mapping of a process before `stack` is.
  std::function<void(int64_t pid, const record::MappingPayload& mapping,
                     std::string_view path)>
      mapping;
  StackOf stack;
  // Other details belong to another session. Stacks of memory records do not
  // count here.
  WantedDetails details;
  // False: memory records belong to another session.
  bool with_memory = true;
  // How many memory records the shard may take. Later ones are left out and
  // counted (kMemoryRecordsLeftOut).
  size_t memory_limit = ~size_t{0};
  // If there are more heap records, the shard gets sums instead of them
  // (TraceShard::folded_memory).
  uint64_t fold_heap_above = ~uint64_t{0};
  // Whether other shards of the trace may have events of the same threads, such
  // as calls of a device's driver. Those get their shares of the heap's bytes.
  bool others_record_ranges = false;
  // Called for chunks that will not be read again soon, so that their memory
  // can be given back. May be empty. Any thread.
  std::function<void(const record::ChunkView&)> release;
  // Whether another call has the chunk of that ticket in its input. The result
  // then lists the records that end or extend records of that chunk. Empty: no
  // other call has chunks.
  std::function<bool(uint64_t ticket)> is_elsewhere;
};

// The result for one chunk.
struct DecodedChunk {
  record::ChunkView view;
  size_t first_row = 0;  // of its events in the shard's block
  size_t event_count = 0;
  std::vector<OpenRange> open;  // ranges that the input did not end
  // Slots of records that end or extend records in other calls' chunks.
  std::vector<uint32_t> for_others;
  // When another program replaced the chunk's program (program_images.h). 0 =
  // never, or the caller has not set it yet.
  TimeNs replaced_ns = 0;
  // Its thread has ended (handed_on.h). False: or the caller has not set it.
  bool thread_has_ended = false;
};

// Adds events (as the shard's block), counters, memory records and their names
// to `shard`, whose tracks exist. Plain events are decoded on all cores, chunk
// by chunk; payloads are read one after the other. Returns the chunks in the
// order of their rows.
std::vector<DecodedChunk> DecodeChunks(const DecodeInput& input,
                                       model::TraceShard& shard);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_DECODE_H_
