#include "profiler/record/arena/chunk_reader.h"

#include <algorithm>
#include <vector>

namespace kymo::record {

size_t UsedSlots(std::span<const Slot> slots) noexcept {
  size_t used = 0;
  while (used < slots.size()) {
    if (slots[used].begin.load(std::memory_order_relaxed) == 0) break;
    used += std::max<size_t>(RecordSlots(slots, used), 1);
  }
  return used;
}

size_t WrittenSlots(std::span<const Slot> slots) noexcept {
  size_t last = slots.size();
  while (last > 0) {
    const Slot& slot = slots[last - 1];
    // Payload may hold zeros where a head has its times; look at all of it.
    if (slot.begin.load(std::memory_order_relaxed) != 0 ||
        slot.end.load(std::memory_order_relaxed) != 0 || slot.name != 0 ||
        slot.kind_scope_depth != 0 || slot.extra_slots != 0) {
      break;
    }
    --last;
  }
  if (last == slots.size()) return last;
  // The payload of the last record may end in zeros.
  size_t used = 0;
  while (used < last) {
    used += std::max<size_t>(RecordSlots(slots, used), 1);
  }
  return used;
}

namespace {

// Slots of the chunk that earlier calls have visited.
uint32_t AlreadyRead(const ChunkWord& word) {
  return std::min(word.read_slots.load(std::memory_order_relaxed),
                  kSlotsPerChunk);
}

// Whether the process has written the chunk, and nobody has taken it since.
bool IsOfProcess(const Arena& arena, uint32_t chunk, int32_t pid) {
  const uint64_t owner =
      arena.word(chunk).owner.load(std::memory_order_relaxed);
  const ChunkState state = OwnerState(owner);
  return (state == ChunkState::kOwned || state == ChunkState::kSealed) &&
         OwnerStream(owner) < arena.stream_count() &&
         arena.stream(OwnerStream(owner)).pid.load(std::memory_order_relaxed) ==
             pid;
}

}  // namespace

std::unique_ptr<Slot[]> CopySlots(std::span<const Slot> slots) {
  auto copy = std::make_unique<Slot[]>(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    // Only `end` of a published record still changes.
    copy[i].begin.store(slots[i].begin.load(std::memory_order_relaxed),
                        std::memory_order_relaxed);
    copy[i].end.store(slots[i].end.load(std::memory_order_relaxed),
                      std::memory_order_relaxed);
    copy[i].name = slots[i].name;
    copy[i].kind_scope_depth = slots[i].kind_scope_depth;
    copy[i].extra_slots = slots[i].extra_slots;
    copy[i].flags = slots[i].flags;
  }
  return copy;
}

namespace {

// Whether the chunk has this ticket after all that the caller did before.
bool HasTicket(ChunkWord& word, uint64_t ticket) {
  // A release that writes nothing new: what the caller did comes first.
  return word.ticket.fetch_add(0, std::memory_order_acq_rel) == ticket;
}

}  // namespace

bool IsStill(const Arena& arena, const ChunkView& view) noexcept {
  const auto chunk = static_cast<uint32_t>(
      (view.slots.data() - arena.slots(0)) / kSlotsPerChunk);
  ChunkWord& word = arena.word(chunk);
  return HasTicket(word, view.ticket) &&
         OwnerStream(word.owner.load(std::memory_order_relaxed)) == view.stream;
}

ChunkReader::~ChunkReader() {
  for (const uint32_t chunk : taken_) arena_.FreeChunk(chunk);
}

size_t ChunkReader::Drain(bool sessions_too, const Visit& visit) {
  size_t drained = 0;
  const uint32_t taken = arena_.high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    ChunkWord& word = arena_.word(chunk);
    if (!sessions_too &&
        word.session.load(std::memory_order_relaxed) != kNoSession) {
      continue;
    }
    if (!arena_.BeginReading(chunk)) continue;
    const uint64_t owner = word.owner.load(std::memory_order_relaxed);
    const uint64_t ticket = word.ticket.load(std::memory_order_relaxed);
    const uint32_t from = AlreadyRead(word);
    const std::span<const Slot> slots(arena_.slots(chunk), kSlotsPerChunk);
    const size_t used = WrittenSlots(slots.subspan(from));
    if (used != 0) {
      visit({.stream = OwnerStream(owner),
             .ticket = ticket,
             .first_index = from,
             .slots = slots.subspan(from, used)});
    }
    arena_.FreeChunk(chunk);
    ++drained;
  }
  return drained;
}

size_t ChunkReader::DrainSealed(const Visit& visit) {
  return Drain(false, visit);
}

void ChunkReader::ReadOwned(const Visit& visit) {
  const uint32_t taken = arena_.high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    ChunkWord& word = arena_.word(chunk);
    const uint64_t owner = word.owner.load(std::memory_order_acquire);
    if (OwnerState(owner) != ChunkState::kOwned) continue;
    // acquire: the chunk is zero, or filled by this ticket's owner. A ticket of
    // 0 means that the chunk is just being taken.
    const uint64_t ticket = word.ticket.load(std::memory_order_acquire);
    if (ticket == 0) continue;
    const uint32_t from = AlreadyRead(word);
    const std::span<const Slot> slots(arena_.slots(chunk), kSlotsPerChunk);
    const size_t used = UsedSlots(slots.subspan(from));
    if (used == 0) continue;
    word.read_slots.store(static_cast<uint32_t>(from + used),
                          std::memory_order_relaxed);
    visit({.stream = OwnerStream(owner),
           .ticket = ticket,
           .first_index = from,
           .slots = slots.subspan(from, used)});
  }
}

void ChunkReader::ReadAll(const Visit& visit) {
  // Full chunks first: owned chunks change while they are read.
  Drain(true, visit);
  ReadOwned(visit);
  // Chunks that were sealed between the two.
  Drain(true, visit);
}

void ChunkReader::VisitSession(const SessionChunks& of, bool take_sealed,
                               const Visit& visit_taken,
                               const Visit& visit_shared) {
  const uint32_t taken = arena_.high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    if (!IsOfProcess(arena_, chunk, of.pid)) continue;
    ChunkWord& word = arena_.word(chunk);
    const bool is_own =
        word.session.load(std::memory_order_relaxed) == of.session;
    if (!is_own && !of.all_threads) continue;
    uint64_t owner = word.owner.load(std::memory_order_acquire);
    const ChunkState state = OwnerState(owner);
    const bool is_owned = state == ChunkState::kOwned;
    if (!is_owned && state != ChunkState::kSealed) continue;
    // Other sessions cannot read a chunk that is taken.
    const bool is_taken =
        take_sealed && is_own && !is_owned && !HoldsLater(chunk, of);
    if (is_taken) {
      if (!Take(chunk, of.session)) continue;
      taken_.push_back(chunk);
      owner = word.owner.load(std::memory_order_relaxed);
    }
    // acquire: as in ReadOwned.
    const uint64_t ticket = word.ticket.load(std::memory_order_acquire);
    if (ticket == 0) continue;
    const std::span<const Slot> slots(arena_.slots(chunk), kSlotsPerChunk);
    const size_t used = is_owned ? UsedSlots(slots) : WrittenSlots(slots);
    if (used == 0) continue;
    (is_taken ? visit_taken : visit_shared)({.stream = OwnerStream(owner),
                                             .ticket = ticket,
                                             .first_index = 0,
                                             .slots = slots.first(used)});
  }
}

void ChunkReader::ReadSession(const SessionChunks& of, const Visit& visit) {
  VisitSession(of, /*take_sealed=*/false, visit, visit);
}

void ChunkReader::TakeSession(const SessionChunks& of, const Visit& visit_taken,
                              const Visit& visit_shared) {
  VisitSession(of, /*take_sealed=*/true, visit_taken, visit_shared);
}

void ChunkReader::InTurn(size_t count,
                         const std::function<void(size_t)>& call) {
  for (size_t i = 0; i < count; ++i) call(i);
}

// Whether a sealed chunk has records from after the session's end. A later
// session may not have read them yet.
bool ChunkReader::HoldsLater(uint32_t chunk, const SessionChunks& of) const {
  // The seal, which the caller has seen, came after that session's start.
  if (arena_.header().next_session.load(std::memory_order_relaxed) ==
      of.session) {
    return false;
  }
  const std::span<const Slot> slots(arena_.slots(chunk), kSlotsPerChunk);
  bool holds = false;
  ForEachRecord(
      {.slots = slots}, [&](const Slot& head, std::span<const Slot>, uint32_t) {
        holds |= head.begin.load(std::memory_order_relaxed) >= of.end_ticks;
      });
  return holds;
}

// False if the chunk is not sealed, or another session's by now.
bool ChunkReader::Take(uint32_t chunk, SessionId session) const {
  if (!arena_.BeginReading(chunk)) return false;
  ChunkWord& word = arena_.word(chunk);
  if (word.session.load(std::memory_order_relaxed) == session) return true;
  arena_.SealChunk(chunk);
  return false;
}

// Another session may take the chunk at any time, and seal it again.
void ChunkReader::ReleaseChunk(uint32_t chunk, const SessionChunks& of) const {
  const SessionId session = of.session;
  ChunkWord& word = arena_.word(chunk);
  const uint64_t owner = word.owner.load(std::memory_order_acquire);
  if (OwnerState(owner) != ChunkState::kOwned) {
    if (!HoldsLater(chunk, of) && Take(chunk, session)) {
      arena_.FreeChunk(chunk);
    }
    return;
  }
  const uint64_t ticket = word.ticket.load(std::memory_order_acquire);
  if (ticket == 0 || word.session.load(std::memory_order_relaxed) != session) {
    return;
  }
  // If one of these slots is overwritten from now on, nothing is lost.
  auto used =
      static_cast<uint32_t>(UsedSlots({arena_.slots(chunk), kSlotsPerChunk}));
  word.read_slots.store(used, std::memory_order_relaxed);
  if (!HasTicket(word, ticket)) {
    // The chunk was taken meanwhile, and nobody has read the new slots.
    word.read_slots.compare_exchange_strong(used, 0, std::memory_order_relaxed);
  }
}

void ChunkReader::Release(const SessionChunks& of, bool collector_records,
                          const ForEach& for_each) {
  if (!taken_.empty()) {
    for_each(taken_.size(), [&](size_t i) { arena_.FreeChunk(taken_[i]); });
    taken_.clear();
  }
  if (!collector_records) {
    std::vector<uint32_t> chunks;
    const uint32_t taken = arena_.high_water();
    for (uint32_t chunk = 0; chunk < taken; ++chunk) {
      if (IsOfProcess(arena_, chunk, of.pid) &&
          arena_.word(chunk).session.load(std::memory_order_relaxed) ==
              of.session) {
        chunks.push_back(chunk);
      }
    }
    for_each(chunks.size(), [&](size_t i) { ReleaseChunk(chunks[i], of); });
  }
}

}  // namespace kymo::record
