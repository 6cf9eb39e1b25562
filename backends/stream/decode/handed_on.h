// handed_on.h - ranges that a thread began and another thread is to end.
//
//   chunk.thread_has_ended = HasEnded(arena, chunk.view.stream);
//   MarkHandedOn(chunks, shard.block);
//
// A RecordFunction that is open when its thread ends belongs to another thread
// by now: the end of its scope would have ended it. So it is asynchronous, as
// it would be with its end. This is known once all records have been read.
//
// longjmp leaves ranges open, too, and nothing tells them from these. Each
// asynchronous one would take a row of its own for the rest of the recording.
// So those of a thread with more than kMostHandedOn nest: they end with the
// range around them.
#ifndef KYMO_BACKENDS_STREAM_DECODE_HANDED_ON_H_
#define KYMO_BACKENDS_STREAM_DECODE_HANDED_ON_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {

inline constexpr size_t kMostHandedOn = 1'000;

// Whether the stream's thread has ended and has all its records: among lost
// ones may be the end of a range.
bool HasEnded(const record::Arena& arena, uint32_t stream);

// Makes ranges of ended threads asynchronous that are still open.
void MarkHandedOn(const std::vector<DecodedChunk>& chunks,
                  model::EventColumns& events);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_HANDED_ON_H_
