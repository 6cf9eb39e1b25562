#include "backends/stream/flight_recorder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/plugin/settings.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {
namespace {

using record::Arena;
using record::ChunkState;
using record::ChunkView;
using record::ChunkWord;
using record::Slot;
using record::SlotKind;

bool IsSaidOnce(const Slot& head) {
  const SlotKind kind = record::UnpackKind(head.kind_scope_depth);
  return kind == SlotKind::kMapping || kind == SlotKind::kResource;
}

// A stream's record as a text, without its time.
std::string TextOf(uint32_t stream, const Slot* slots, size_t count) {
  std::string text(reinterpret_cast<const char*>(&stream), sizeof(stream));
  text.append(reinterpret_cast<const char*>(&slots->end),
              count * sizeof(Slot) - offsetof(Slot, end));
  return text;
}

bool HasEnd(SlotKind kind) { return kind == SlotKind::kRange; }

}  // namespace

std::optional<FlightLimit> ParseFlightLimit(std::string_view text) {
  if (text.ends_with("s")) {
    const auto seconds = setting::ParseInteger(text.substr(0, text.size() - 1),
                                               1, kMostFlightSeconds);
    if (seconds) return FlightLimit{.keep_ns = *seconds * kNsPerSecond};
  } else if (text.ends_with("MiB")) {
    const auto mib = setting::ParseInteger(text.substr(0, text.size() - 3), 1,
                                           kMostFlightMib);
    if (mib) return FlightLimit{.bytes = static_cast<uint64_t>(*mib) << 20};
  }
  return std::nullopt;
}

std::string FlightLimitText(const FlightLimit& limit) {
  return limit.keep_ns != 0 ? absl::StrCat(limit.keep_ns / kNsPerSecond, "s")
                            : absl::StrCat(limit.bytes >> 20, "MiB");
}

void FlightRecorder::Poll(int64_t now_ns) {
  const uint32_t taken = arena_.high_water();
  seen_.resize(std::max<size_t>(seen_.size(), taken));
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    ChunkWord& word = arena_.word(chunk);
    uint64_t owner = word.owner.load(std::memory_order_acquire);
    if (record::OwnerState(owner) != ChunkState::kSealed) continue;
    const uint64_t ticket = word.ticket.load(std::memory_order_acquire);
    Seen& seen = seen_[chunk];
    if (seen.ticket != ticket) {
      KeepSaidOnce(chunk, owner, ticket);
      seen = {.ticket = ticket, .at_ns = now_ns};
    }
    if (keep_ns_ != 0 && now_ns - seen.at_ns > keep_ns_) Free(chunk, owner);
  }
  arena_.RecountFree();
}

void FlightRecorder::Free(uint32_t chunk, uint64_t owner) {
  ChunkWord& word = arena_.word(chunk);
  if (word.session.load(std::memory_order_relaxed) != record::kNoSession ||
      !word.owner.compare_exchange_strong(
          owner,
          record::PackOwner(ChunkState::kReading, record::OwnerStream(owner)),
          std::memory_order_acquire, std::memory_order_relaxed)) {
    return;
  }
  // The same stream may have taken, filled and sealed it again meanwhile.
  if (word.ticket.load(std::memory_order_relaxed) == seen_[chunk].ticket) {
    arena_.FreeChunk(chunk);
  } else {
    word.owner.store(owner, std::memory_order_release);
  }
}

void FlightRecorder::KeepSaidOnce(uint32_t chunk, uint64_t owner,
                                  uint64_t ticket) {
  const ChunkView view = {
      .stream = record::OwnerStream(owner),
      .ticket = ticket,
      .slots = {arena_.slots(chunk), record::kSlotsPerChunk}};
  const auto keep = [&](const Slot& head, std::span<const Slot> payload,
                        uint32_t index) {
    if (!IsSaidOnce(head)) return;
    const size_t slots = 1 + payload.size();
    const uint64_t bytes = slots * sizeof(Slot);
    if (kept_bytes_ + bytes > most_kept_bytes_) return;
    std::unique_ptr<Slot[]> copy = record::CopySlots({&head, slots});
    if (!record::IsStill(arena_, view)) return;
    if (!kept_texts_.insert(TextOf(view.stream, copy.get(), slots)).second) {
      return;
    }
    kept_.push_back({.stream = view.stream,
                     .ticket = ticket | kKeptTicket,
                     .first_index = index,
                     .slots = {copy.get(), slots}});
    kept_slots_.push_back(std::move(copy));
    kept_bytes_ += bytes;
    store_.Add(kept_.back());
  };
  record::ForEachRecord(view, keep);
}

namespace {

// Calls `is_wanted` with the stream and the word of each chunk.
template <typename IsWanted>
void Snapshot(const Arena& arena, const IsWanted& is_wanted,
              const record::ChunkReader::Visit& visit) {
  constexpr int kTries = 100;
  const uint32_t taken = arena.high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    ChunkWord& word = arena.word(chunk);
    // A chunk that is being taken has no ticket for a moment. If its thread
    // died at that point, it never gets one.
    for (int tries = 0; tries < kTries; ++tries) {
      const uint64_t owner = word.owner.load(std::memory_order_acquire);
      const ChunkState state = record::OwnerState(owner);
      if (state != ChunkState::kOwned && state != ChunkState::kSealed) break;
      if (!is_wanted(record::OwnerStream(owner), word)) break;
      const uint64_t ticket = word.ticket.load(std::memory_order_acquire);
      ChunkView view = {.stream = record::OwnerStream(owner),
                        .ticket = ticket,
                        .slots = {arena.slots(chunk), record::kSlotsPerChunk}};
      const size_t used = state == ChunkState::kSealed
                              ? record::WrittenSlots(view.slots)
                              : record::UsedSlots(view.slots);
      const std::unique_ptr<Slot[]> copy =
          record::CopySlots(view.slots.first(used));
      if (ticket == 0 || !record::IsStill(arena, view)) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        continue;
      }
      view.slots = {copy.get(), used};
      if (used != 0) visit(view);
      break;
    }
  }
}

}  // namespace

void SnapshotChunks(const Arena& arena,
                    const record::ChunkReader::Visit& visit) {
  Snapshot(
      arena, [](uint32_t, const ChunkWord&) { return true; }, visit);
}

void SnapshotSession(const Arena& arena, const record::SessionChunks& of,
                     const record::ChunkReader::Visit& visit) {
  const auto is_wanted = [&](uint32_t stream, const ChunkWord& word) {
    return (of.all_threads ||
            word.session.load(std::memory_order_relaxed) == of.session) &&
           stream < arena.stream_count() &&
           arena.stream(stream).pid.load(std::memory_order_relaxed) == of.pid;
  };
  Snapshot(arena, is_wanted, visit);
}

ChunkView WithoutOld(ChunkView chunk, const TickConverter& clock,
                     TimeNs oldest_ns) {
  size_t old = 0;
  while (old < chunk.slots.size()) {
    const size_t taken = record::RecordSlots(chunk.slots, old);
    const Slot& head = chunk.slots[old];
    const SlotKind kind = record::UnpackKind(head.kind_scope_depth);
    const uint64_t last = HasEnd(kind)
                              ? head.end.load(std::memory_order_relaxed)
                              : head.begin.load(std::memory_order_relaxed);
    if (taken == 0 || last == 0 || IsSaidOnce(head) ||
        clock.ToEpochNs(last) >= oldest_ns) {
      break;
    }
    old += taken;
  }
  chunk.first_index += static_cast<uint32_t>(old);
  chunk.slots = chunk.slots.subspan(old);
  return chunk;
}

}  // namespace kymo::stream
