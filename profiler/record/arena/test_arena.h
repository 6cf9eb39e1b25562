// test_arena.h - small arenas, and records as a recorder would write them.
//
//   TEST_F(ChunkPoolTest, Seals) {
//     const uint32_t chunk = Acquire();
//     WriteSlot(arena_.slots(chunk)[0], /*begin=*/5);
//     arena_.SealChunk(chunk);
//   }
#ifndef KYMO_PROFILER_RECORD_ARENA_TEST_ARENA_H_
#define KYMO_PROFILER_RECORD_ARENA_TEST_ARENA_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "profiler/record/arena/arena.h"

namespace kymo::record {

// Writes a range's head.
inline void WriteSlot(Slot& slot, uint64_t begin, uint32_t extra_slots = 0) {
  slot.name = 1;
  slot.kind_scope_depth = PackKind(SlotKind::kRange, 0, 0);
  slot.extra_slots = extra_slots;
  slot.begin.store(begin, std::memory_order_release);
}

inline ArenaOptions SmallOptions(FullPolicy policy, uint64_t chunks) {
  return {.capacity_bytes = chunks * kChunkBytes,
          .chunk_bytes_total = chunks * kChunkBytes,
          .policy = policy};
}

class ChunkPoolTest : public testing::Test {
 protected:
  static constexpr uint64_t kChunks = 8;

  ~ChunkPoolTest() override { arena_.Unmap(); }

  uint32_t Acquire(uint32_t stream = 0, SessionId session = kNoSession) {
    return arena_.AcquireChunk(stream, session, &ticket_);
  }
  ChunkState StateOf(uint32_t chunk) {
    return OwnerState(arena_.word(chunk).owner.load());
  }
  int64_t FreeChunks() { return arena_.header().free_chunks.load(); }

  Arena arena_ =
      Arena::CreateAnonymous(SmallOptions(FullPolicy::kStop, kChunks));
  uint64_t ticket_ = 0;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_TEST_ARENA_H_
