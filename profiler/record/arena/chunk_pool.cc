#include "profiler/record/arena/chunk_pool.h"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace kymo::record {
namespace {

void RaiseHighWater(ArenaHeader& header, uint32_t chunks) noexcept {
  uint32_t seen = header.high_water.load(std::memory_order_relaxed);
  while (seen < chunks && !header.high_water.compare_exchange_weak(
                              seen, chunks, std::memory_order_relaxed)) {
  }
}

}  // namespace

void ChunkPool::SetLimits(uint64_t chunk_bytes_total,
                          FullPolicy policy) const noexcept {
  const uint64_t wanted = chunk_bytes_total / kChunkBytes;
  header_->chunk_limit.store(
      wanted < chunk_count_ ? static_cast<uint32_t>(wanted) : chunk_count_,
      std::memory_order_relaxed);
  header_->policy.store(static_cast<uint32_t>(policy),
                        std::memory_order_relaxed);
  header_->free_hint.store(0, std::memory_order_relaxed);
  RecountFree();
}

void ChunkPool::RecountFree() const noexcept {
  const uint32_t usable = usable_chunks();
  const uint32_t taken = std::min(usable, high_water());
  int64_t free = usable - taken;
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    free += OwnerState(word(chunk).owner.load(std::memory_order_relaxed)) ==
            ChunkState::kFree;
  }
  header_->free_chunks.store(free, std::memory_order_relaxed);
}

uint32_t ChunkPool::high_water() const noexcept {
  return std::min(header_->high_water.load(std::memory_order_relaxed),
                  chunk_count_);
}

uint32_t ChunkPool::usable_chunks() const noexcept {
  const uint32_t limit = header_->chunk_limit.load(std::memory_order_relaxed);
  return limit < chunk_count_ ? limit : chunk_count_;
}

uint32_t ChunkPool::TakeFree(uint32_t stream) const noexcept {
  if (header_->free_chunks.load(std::memory_order_relaxed) <= 0) {
    return kNoChunk;
  }
  const uint32_t usable = usable_chunks();
  if (usable == 0) return kNoChunk;
  const uint32_t hint =
      header_->free_hint.load(std::memory_order_relaxed) % usable;
  for (uint32_t step = 0; step < usable; ++step) {
    const uint32_t chunk =
        hint + step < usable ? hint + step : hint + step - usable;
    uint64_t owner = word(chunk).owner.load(std::memory_order_relaxed);
    if (OwnerState(owner) != ChunkState::kFree) continue;
    // acquire: pairs with FreeChunk's release, so that the zeros are seen.
    if (word(chunk).owner.compare_exchange_strong(
            owner, PackOwner(ChunkState::kOwned, stream),
            std::memory_order_acquire, std::memory_order_relaxed)) {
      header_->free_hint.store(chunk + 1, std::memory_order_relaxed);
      RaiseHighWater(*header_, chunk + 1);
      header_->free_chunks.fetch_sub(1, std::memory_order_relaxed);
      return chunk;
    }
  }
  return kNoChunk;
}

uint32_t ChunkPool::TakeOldestSealed(uint32_t stream) const noexcept {
  // Another thread may win the race for the oldest one; then look again.
  for (int attempt = 0; attempt < 8; ++attempt) {
    uint32_t oldest = kNoChunk;
    uint64_t oldest_ticket = UINT64_MAX;
    const uint32_t taken = std::min(usable_chunks(), high_water());
    for (uint32_t chunk = 0; chunk < taken; ++chunk) {
      const uint64_t ticket =
          word(chunk).ticket.load(std::memory_order_relaxed);
      if (ticket < oldest_ticket &&
          OwnerState(word(chunk).owner.load(std::memory_order_relaxed)) ==
              ChunkState::kSealed) {
        oldest = chunk;
        oldest_ticket = ticket;
      }
    }
    if (oldest == kNoChunk) return kNoChunk;
    uint64_t owner = word(oldest).owner.load(std::memory_order_relaxed);
    if (OwnerState(owner) != ChunkState::kSealed ||
        !word(oldest).owner.compare_exchange_strong(
            owner, PackOwner(ChunkState::kOwned, stream),
            std::memory_order_acquire, std::memory_order_relaxed)) {
      continue;
    }
    word(oldest).ticket.store(0, std::memory_order_relaxed);
    // Whoever sees the zeros below sees that the ticket is gone (IsStill). Only
    // a fence keeps the stores behind it from being seen before it.
    std::atomic_thread_fence(std::memory_order_release);
    CountOverwritten(OwnerStream(owner), slots(oldest),
                     word(oldest).read_slots.load(std::memory_order_relaxed));
    // If the process dies before this, the reader counts the events.
    word(oldest).read_slots.store(kSlotsPerChunk, std::memory_order_release);
    memset(static_cast<void*>(slots(oldest)), 0, kChunkBytes);
    return oldest;
  }
  return kNoChunk;
}

void ChunkPool::CountOverwritten(uint32_t loser, const Slot* old,
                                 uint32_t read_slots) const noexcept {
  if (loser >= streams_.stream_capacity()) return;
  uint64_t events = 0;
  // The next record's place is guessed from the last one's length. Otherwise
  // each step waits for what the step before reads (8 cycles).
  uint32_t length = 1;
  // Events that a reader has already read are not lost.
  for (uint32_t i = read_slots; i < kSlotsPerChunk;) {
    const uint32_t extra = old[i].extra_slots;
    // Behind a record that was never finished there may be others.
    if (old[i].begin.load(std::memory_order_relaxed) == 0 ||
        extra >= kSlotsPerChunk - i) {
      ++i;
      continue;
    }
    events += IsEvent(UnpackKind(old[i].kind_scope_depth));
    uint32_t next = i + length;
    asm("" : "+r"(next));  // the compiler would compute it from `extra`
    if (length != 1 + extra) [[unlikely]] {
      length = 1 + extra;
      next = i + length;
    }
    i = next;
  }
  streams_.stream(loser).overwritten.fetch_add(events,
                                               std::memory_order_relaxed);
}

uint32_t ChunkPool::AcquireChunk(uint32_t stream, uint32_t session,
                                 uint64_t* ticket) const noexcept {
  uint32_t chunk = TakeFree(stream);
  if (chunk == kNoChunk && policy() == FullPolicy::kOverwrite) {
    chunk = TakeOldestSealed(stream);
  }
  if (chunk == kNoChunk) return kNoChunk;
  word(chunk).read_slots.store(0, std::memory_order_relaxed);
  word(chunk).session.store(session, std::memory_order_relaxed);
  *ticket = header_->next_ticket.fetch_add(1, std::memory_order_relaxed);
  word(chunk).ticket.store(*ticket, std::memory_order_release);
  return chunk;
}

void ChunkPool::SealChunk(uint32_t chunk) const noexcept {
  const uint64_t owner = word(chunk).owner.load(std::memory_order_relaxed);
  // release: the reader that sees kSealed sees every record.
  word(chunk).owner.store(PackOwner(ChunkState::kSealed, OwnerStream(owner)),
                          std::memory_order_release);
}

bool ChunkPool::BeginReading(uint32_t chunk) const noexcept {
  uint64_t owner = word(chunk).owner.load(std::memory_order_relaxed);
  // acquire: pairs with the owner's seal.
  return OwnerState(owner) == ChunkState::kSealed &&
         word(chunk).owner.compare_exchange_strong(
             owner, PackOwner(ChunkState::kReading, OwnerStream(owner)),
             std::memory_order_acquire, std::memory_order_relaxed);
}

void ChunkPool::FreeChunk(uint32_t chunk) const noexcept {
  memset(static_cast<void*>(slots(chunk)), 0, kChunkBytes);
  word(chunk).ticket.store(0, std::memory_order_relaxed);
  word(chunk).owner.store(PackOwner(ChunkState::kFree, 0),
                          std::memory_order_release);
  header_->free_chunks.fetch_add(1, std::memory_order_relaxed);
  // Low chunks first: they are warm, and the working set stays small.
  uint32_t hint = header_->free_hint.load(std::memory_order_relaxed);
  if (chunk < hint) header_->free_hint.store(chunk, std::memory_order_relaxed);
}

void ChunkPool::DiscardSealed() const noexcept {
  const uint32_t taken = high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    if (BeginReading(chunk)) FreeChunk(chunk);
  }
}

void ChunkPool::Retag(int32_t pid, uint32_t from, uint32_t to) const noexcept {
  const uint32_t taken = high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    const uint64_t owner = word(chunk).owner.load(std::memory_order_relaxed);
    const ChunkState state = OwnerState(owner);
    if (state != ChunkState::kOwned && state != ChunkState::kSealed) continue;
    if (OwnerStream(owner) >= streams_.stream_count() ||
        streams_.stream(OwnerStream(owner))
                .pid.load(std::memory_order_relaxed) != pid) {
      continue;
    }
    uint32_t session = from;
    word(chunk).session.compare_exchange_strong(session, to,
                                                std::memory_order_relaxed);
  }
}

void ChunkPool::Populate(uint32_t first, uint32_t count) const noexcept {
  // Failure (an older kernel) only means that pages come as they are touched.
  madvise(slots(first), uint64_t{count} * kChunkBytes, MADV_POPULATE_WRITE);
}

}  // namespace kymo::record
