#include "backends/stream/decode/handed_on.h"

#include <atomic>

#include "profiler/model/records.h"

namespace kymo::stream {

bool HasEnded(const record::Arena& arena, uint32_t stream) {
  return arena.heap_counts(stream).thread_end_ns.load(
             std::memory_order_relaxed) > 0 &&
         arena.stream(stream).dropped.load(std::memory_order_relaxed) == 0;
}

void MarkHandedOn(const std::vector<DecodedChunk>& chunks,
                  model::EventColumns& events) {
  for (const DecodedChunk& chunk : chunks) {
    if (!chunk.thread_has_ended) continue;
    for (const OpenRange& range : chunk.open) {
      if (range.ends_with_thread) continue;
      events.flags[range.row] |= model::kEventAsync;
    }
  }
}

}  // namespace kymo::stream
