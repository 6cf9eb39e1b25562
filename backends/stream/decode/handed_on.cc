#include "backends/stream/decode/handed_on.h"

#include <atomic>
#include <map>

#include "profiler/model/records.h"

namespace kymo::stream {

bool HasEnded(const record::Arena& arena, uint32_t stream) {
  return arena.heap_counts(stream).thread_end_ns.load(
             std::memory_order_relaxed) > 0 &&
         arena.stream(stream).dropped.load(std::memory_order_relaxed) == 0;
}

void MarkHandedOn(const std::vector<DecodedChunk>& chunks,
                  model::EventColumns& events) {
  std::map<uint32_t, std::vector<size_t>> rows;  // by stream
  for (const DecodedChunk& chunk : chunks) {
    if (!chunk.thread_has_ended) continue;
    for (const OpenRange& range : chunk.open) {
      if (range.ends_with_thread) continue;
      rows[chunk.view.stream].push_back(range.row);
    }
  }
  for (const auto& [stream, handed_on] : rows) {
    if (handed_on.size() > kMostHandedOn) continue;
    for (const size_t row : handed_on) events.flags[row] |= model::kEventAsync;
  }
}

}  // namespace kymo::stream
