#include "backends/stream/raw/free_chunks.h"

#include <fcntl.h>

#include <cstddef>
#include <cstdint>

namespace kymo::stream {

void DropFreeChunks(const record::Arena& arena, int fd) {
  const auto is_free = [&](uint32_t chunk) {
    return record::OwnerState(arena.word(chunk).owner.load(
               std::memory_order_relaxed)) == record::ChunkState::kFree;
  };
  const uint32_t count = arena.chunk_count();
  for (uint32_t begin = 0; begin < count;) {
    uint32_t end = begin;
    while (end < count && is_free(end)) ++end;
    if (begin != end) {
      static_cast<void>(fallocate(
          fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
          reinterpret_cast<const std::byte*>(arena.slots(begin)) -
              reinterpret_cast<const std::byte*>(&arena.header()),
          static_cast<off_t>(uint64_t{end - begin} * record::kChunkBytes)));
    }
    begin = end + 1;
  }
}

}  // namespace kymo::stream
