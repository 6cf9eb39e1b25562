// decode.h - chunks of slots in, a shard's columns out.
//
// Trust: the slots come from the target; every field is checked. What cannot be
// a record is skipped and counted (kRecordsCorrupt).
#ifndef KYMO_BACKENDS_CPU_DECODE_DECODE_H_
#define KYMO_BACKENDS_CPU_DECODE_DECODE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/cpu/decode/decode_chunk.h"
#include "backends/cpu/decode/decode_payload.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::cpu {

struct DecodeInput {
  // In any order. Views must stay valid during the call.
  std::vector<record::ChunkView> chunks;
  // The track of each stream, by stream id; kNoTrack where there is none.
  std::vector<model::TrackIndex> stream_tracks;
  // Text of a name id; whatever the id, some text.
  std::function<std::string_view(uint32_t)> name_text;
  // Names have ids below; what is no name is shown as kNameLost. Costs 4 bytes
  // for each.
  uint32_t name_limit = 0;
  TickConverter clock;
  // Chunks with smaller tickets are of an earlier session.
  uint64_t first_ticket = 0;
  // Records that begin outside of these are somebody else's; empty = all are
  // ours. Sorted, apart from each other.
  std::vector<TickInterval> recorded;
  // Called with each mapping of a process before `stack` is.
  std::function<void(int64_t pid, const record::MappingPayload& mapping,
                     std::string_view path)>
      mapping;
  StackOf stack;
  // False: memory records are somebody else's.
  bool with_memory = true;
  // How many memory records the shard may take; the latest beyond are left out
  // and counted (kMemoryRecordsLeftOut).
  size_t memory_limit = ~size_t{0};
  // Whether a chunk of that ticket is in the input of another call. What ends
  // or extends its records is then in the result. Empty: none is.
  std::function<bool(uint64_t ticket)> is_elsewhere;
};

// What became of a chunk.
struct DecodedChunk {
  record::ChunkView view;
  size_t first_row = 0;  // of its events in the shard's block
  size_t event_count = 0;
  std::vector<OpenRange> open;  // still, after all that the input ended
  // Slots of records about records that are elsewhere.
  std::vector<uint32_t> for_others;
  // When its program was replaced by another (program_images.h); 0 = it was
  // not, or the caller has not said yet.
  TimeNs replaced_ns = 0;
};

// Adds events (as the shard's block), counters, memory records and their names
// to `shard`, whose tracks exist. Plain events are decoded on all cores, chunk
// by chunk; payloads are read one after the other. Returns the chunks in the
// order of their rows.
std::vector<DecodedChunk> DecodeChunks(const DecodeInput& input,
                                       model::TraceShard& shard);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_DECODE_DECODE_H_
