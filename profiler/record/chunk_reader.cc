#include "profiler/record/chunk_reader.h"

namespace kymo::record {

size_t UsedSlots(std::span<const Slot> slots) noexcept {
  size_t used = 0;
  while (used < slots.size()) {
    // acquire: pairs with the recorder's release of a record's head.
    if (slots[used].begin.load(std::memory_order_acquire) == 0) break;
    const size_t extra = slots[used].extra_slots;
    if (extra >= slots.size() - used) break;
    used += 1 + extra;
  }
  return used;
}

uint32_t ChunkReader::Watermark(uint64_t ticket) const {
  const auto it = read_.find(ticket);
  return it == read_.end() ? 0 : it->second;
}

size_t ChunkReader::DrainSealed(const Visit& visit) {
  size_t drained = 0;
  for (uint32_t chunk = 0; chunk < arena_.chunk_count(); ++chunk) {
    ChunkWord& word = arena_.word(chunk);
    uint64_t owner = word.owner.load(std::memory_order_relaxed);
    if (OwnerState(owner) != ChunkState::kSealed) continue;
    // A recorder may take a sealed chunk under policy overwrite.
    if (!word.owner.compare_exchange_strong(
            owner, PackOwner(ChunkState::kReading, OwnerStream(owner)),
            std::memory_order_acquire, std::memory_order_relaxed)) {
      continue;
    }
    const uint64_t ticket = word.ticket.load(std::memory_order_relaxed);
    const uint32_t from = Watermark(ticket);
    const std::span<const Slot> slots(arena_.slots(chunk), kSlotsPerChunk);
    const size_t used = UsedSlots(slots.subspan(from));
    if (used != 0) {
      visit({.stream = OwnerStream(owner),
             .ticket = ticket,
             .first_index = from,
             .slots = slots.subspan(from, used)});
    }
    read_.erase(ticket);
    arena_.FreeChunk(chunk);
    ++drained;
  }
  return drained;
}

void ChunkReader::ReadOwned(const Visit& visit) {
  for (uint32_t chunk = 0; chunk < arena_.chunk_count(); ++chunk) {
    ChunkWord& word = arena_.word(chunk);
    const uint64_t owner = word.owner.load(std::memory_order_acquire);
    if (OwnerState(owner) != ChunkState::kOwned) continue;
    // acquire: the chunk is zero, or filled by this ticket's owner. A ticket of
    // 0 means that the chunk is just being taken.
    const uint64_t ticket = word.ticket.load(std::memory_order_acquire);
    if (ticket == 0) continue;
    const uint32_t from = Watermark(ticket);
    const std::span<const Slot> slots(arena_.slots(chunk), kSlotsPerChunk);
    const size_t used = UsedSlots(slots.subspan(from));
    if (used == 0) continue;
    read_[ticket] = static_cast<uint32_t>(from + used);
    visit({.stream = OwnerStream(owner),
           .ticket = ticket,
           .first_index = from,
           .slots = slots.subspan(from, used)});
  }
}

void ChunkReader::Skip() {
  DrainSealed([](const ChunkView&) {});
  ReadOwned([](const ChunkView&) {});
}

}  // namespace kymo::record
