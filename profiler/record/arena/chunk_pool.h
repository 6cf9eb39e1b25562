// chunk_pool.h - who has which chunk of an arena.
//
//   uint64_t ticket;
//   const uint32_t chunk = arena.AcquireChunk(stream, kNoSession, &ticket);
//   if (chunk == kNoChunk) return;         // none is free: count the record
//   WriteRecords(arena.slots(chunk));
//   arena.SealChunk(chunk);                // a reader may take it
//
//   kFree --AcquireChunk--> kOwned --SealChunk--> kSealed
//     ^                        ^                     |
//     |                        +-- kOverwrite -------+
//     +-- FreeChunk -- kReading <-- the reader ------+
//
// Invariants
//  1. Only the owner of a chunk writes into it, and only until it seals it.
//  2. A free chunk is all zero bytes.
//  3. A ticket is given out once. A stream is its chunks in ticket order.
//
// Threads: any, of several processes. Lock-free.
// Errors:  kNoChunk; the caller counts what it cannot record.
#ifndef KYMO_PROFILER_RECORD_ARENA_CHUNK_POOL_H_
#define KYMO_PROFILER_RECORD_ARENA_CHUNK_POOL_H_

#include <cstddef>
#include <cstdint>

#include "profiler/record/arena/layout.h"
#include "profiler/record/arena/stream_table.h"

namespace kymo::record {

inline constexpr uint32_t kNoChunk = ~uint32_t{0};

class ChunkPool {
 public:
  constexpr ChunkPool() noexcept = default;
  // The stream table counts what is overwritten, and knows streams' processes.
  ChunkPool(ArenaHeader* header, ChunkWord* words, std::byte* chunks,
            uint32_t chunk_count, const StreamTable& streams) noexcept
      : header_(header),
        words_(words),
        chunks_(chunks),
        chunk_count_(chunk_count),
        streams_(streams) {}

  FullPolicy policy() const noexcept {
    return static_cast<FullPolicy>(
        header_->policy.load(std::memory_order_relaxed));
  }
  // For the next session; REQUIRES: none is live.
  void SetLimits(uint64_t chunk_bytes_total, FullPolicy policy) const noexcept;
  // Counts the free chunks again. A process that died may have left the count
  // wrong.
  void RecountFree() const noexcept;
  uint32_t chunk_count() const noexcept { return chunk_count_; }
  // Every chunk that was ever taken is below; bounds each walk over them.
  uint32_t high_water() const noexcept;

  // A free chunk for `stream`, all zero, and its new ticket. Under kOverwrite,
  // if none is free, the oldest sealed one. kNoChunk when there is none.
  // `session`: who reads it first, see ChunkWord.
  uint32_t AcquireChunk(uint32_t stream, uint32_t session,
                        uint64_t* ticket) const noexcept;
  // The owner is done with it.
  void SealChunk(uint32_t chunk) const noexcept;
  // For a reader: makes a sealed chunk kReading, so that nobody else takes it.
  // False if it is not sealed, or somebody was faster.
  bool BeginReading(uint32_t chunk) const noexcept;
  // For the reader: clears the chunk and makes it free.
  // REQUIRES: its state is kReading, set by the caller.
  void FreeChunk(uint32_t chunk) const noexcept;
  // Frees every sealed chunk unread. REQUIRES: nobody reads this arena.
  void DiscardSealed() const noexcept;
  // Gives session `to` the chunks of session `from` that process `pid` owns or
  // has sealed.
  void Retag(int32_t pid, uint32_t from, uint32_t to) const noexcept;

  ChunkWord& word(uint32_t chunk) const noexcept { return words_[chunk]; }
  Slot* slots(uint32_t chunk) const noexcept {
    return reinterpret_cast<Slot*>(chunks_ + uint64_t{chunk} * kChunkBytes);
  }

  // Makes the pages of [first, first + count) present in this process.
  void Populate(uint32_t first, uint32_t count) const noexcept;

 private:
  uint32_t usable_chunks() const noexcept;
  uint32_t TakeFree(uint32_t stream) const noexcept;
  uint32_t TakeOldestSealed(uint32_t stream) const noexcept;
  void CountOverwritten(uint32_t loser, const Slot* old,
                        uint32_t read_slots) const noexcept;

  ArenaHeader* header_ = nullptr;
  ChunkWord* words_ = nullptr;
  std::byte* chunks_ = nullptr;
  uint32_t chunk_count_ = 0;
  StreamTable streams_;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_CHUNK_POOL_H_
