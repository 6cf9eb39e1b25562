// decode_chunk.h - decodes one chunk: events into rows, the rest into lists.
//
//   ParallelForEach(chunks, [&](Chunk& c) { decoder.Count(c); });
//   ... give each chunk its rows, map the names ...
//   ParallelForEach(chunks, [&](Chunk& c) { decoder.Fill(c, events); });
//
// Plain events cost no more than these two passes over the slots. Records that
// need another chunk, a table or a callback are left in Chunk::rest, in record
// order.
// Threads: Count and Fill may run at the same time on different chunks, one
//     thread per chunk.
#ifndef KYMO_BACKENDS_STREAM_DECODE_DECODE_CHUNK_H_
#define KYMO_BACKENDS_STREAM_DECODE_DECODE_CHUNK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/stream/decode/decode_names.h"
#include "profiler/base/clock.h"
#include "profiler/base/column.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {

// [begin, end) in ticks.
struct TickInterval {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Whether `ticks` is in one of the intervals.
inline bool IsInAny(std::span<const TickInterval> intervals, uint64_t ticks) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [ticks](const TickInterval& interval) {
                       return ticks >= interval.begin && ticks < interval.end;
                     });
}

// Payload of the event in `row`.
struct PendingPayload {
  std::span<const record::Slot> payload;
  size_t row = 0;
  uint32_t domain = record::kNameLost;  // name id; of captured events
};

// A name that the program gave to something, see record::ResourceKind.
struct NamedResource {
  uint8_t kind = 0;
  uint64_t handle = 0;
  uint32_t name = record::kNameLost;
  uint32_t domain = record::kNameLost;
};

// An end or extra payload for a record that may be in another chunk.
struct FollowUp {
  record::SlotKind kind;
  uint32_t own_index;  // of its slot in the chunk that holds it
  uint64_t ticket;
  uint32_t index;
  TimeNs time_ns;
  std::span<const record::Slot> payload;
};

struct PendingCounter {
  uint32_t name;
  TimeNs time_ns;
  double value;
};

// The stack of the memory record in `row`.
struct PendingStack {
  std::span<const record::Slot> payload;
  size_t row = 0;
};

// A range whose slot holds no end.
struct OpenRange {
  uint32_t index;  // of its slot
  size_t row;
  // Only the thread that began it can end it, as a pop ends what a push began.
  bool ends_with_thread = false;
};

// A block of the heap that the hooks of an allocator saw come or go. An
// allocation that failed (at address 0) is none.
inline bool IsHeapRecord(const record::Slot& head) {
  const record::SlotKind kind = record::UnpackKind(head.kind_scope_depth);
  return (kind == record::SlotKind::kFree ||
          (kind == record::SlotKind::kAllocation &&
           head.end.load(std::memory_order_relaxed) != 0)) &&
         record::UnpackScope(head.kind_scope_depth) !=
             static_cast<uint8_t>(record::HeapSource::kMapped);
}

// Whether bytes of its thread may be charged to the record, or get its node. Of
// instants only captured ones have nodes.
inline bool MayHaveHeap(const record::Slot& head) {
  const record::SlotKind kind = record::UnpackKind(head.kind_scope_depth);
  return kind == record::SlotKind::kRange ||
         (kind == record::SlotKind::kInstant && head.flags != 0);
}

// More than a process can address. Sums overflow only beyond 32,767 blocks of
// this size, which no program can have.
inline constexpr int64_t kMostBytes = int64_t{1} << 48;
// An allocation may have failed because it was too large. It is in no sum.
inline constexpr int64_t kMostFailedBytes = int64_t{1} << 62;

// The bytes that an allocation, free, mapping or unmapping says, at most
// kMostBytes, or kMostFailedBytes if it failed.
inline int64_t HeapBytesOf(const record::Slot& head) {
  const bool failed = head.end.load(std::memory_order_relaxed) == 0;
  return static_cast<int64_t>(
      std::min(uint64_t{head.flags} << 32 | head.name,
               static_cast<uint64_t>(failed ? kMostFailedBytes : kMostBytes)));
}

struct Chunk {
  const record::ChunkView* view = nullptr;
  model::TrackIndex track = 0;
  size_t event_count = 0;
  size_t first_row = 0;  // of its events, once that is known
  size_t memory_count = 0;
  size_t heap_count = 0;  // of them, IsHeapRecord
  // Of the heap's records.
  uint64_t heap_first_ticks = ~uint64_t{0};
  uint64_t heap_last_ticks = 0;
  bool has_others = false;      // records that are no heap records
  bool has_ranges = false;      // records that MayHaveHeap
  bool without_memory = false;  // its memory records are left out
  bool without_heap = false;    // its heap records are left out
  size_t first_memory = 0;      // of its memory records, likewise

  // The records that Fill leaves to the caller.
  struct Rest {
    std::vector<PendingPayload> payloads;
    std::vector<FollowUp> follow_ups;
    std::vector<OpenRange> open;  // by index
    std::vector<PendingCounter> counters;
    std::vector<PendingStack> memory_stacks;
    std::vector<std::span<const record::Slot>> mappings;
    std::vector<NamedResource> resources;
    uint64_t corrupt = 0;
  } rest;
};

class ChunkDecoder {
 public:
  // `recorded` as in DecodeInput. All of them outlive this.
  ChunkDecoder(const TickConverter& clock,
               std::span<const TickInterval> recorded, NameMap& names)
      : clock_(clock), recorded_(recorded), names_(names) {}

  // Sets what stands above first_memory, and marks the names of the events.
  void Count(Chunk& chunk) const;
  // REQUIRES: marked names are mapped, the rows exist.
  void Fill(Chunk& chunk, model::EventColumns& events,
            Column<model::MemoryRecord>& memory) const;
  // The row (after the chunk's first) of each slot that is an event's head, or
  // kNoRow.
  static constexpr uint32_t kNoRow = ~uint32_t{0};
  std::vector<uint32_t> RowsOf(const Chunk& chunk) const;

 private:
  bool BecomesEvent(const record::Slot& head) const {
    const record::SlotKind kind = record::UnpackKind(head.kind_scope_depth);
    return (kind == record::SlotKind::kRange ||
            kind == record::SlotKind::kInstant) &&
           IsWanted(head);
  }

  // Whether the record is one of this session.
  bool IsWanted(const record::Slot& head) const {
    return recorded_.empty() ||
           IsInAny(recorded_, head.begin.load(std::memory_order_relaxed));
  }

  void AddToRest(Chunk& chunk, const record::Slot& head,
                 std::span<const record::Slot> payload, uint32_t index) const;
  static bool IsMemory(record::SlotKind kind) {
    return kind == record::SlotKind::kAllocation ||
           kind == record::SlotKind::kFree || kind == record::SlotKind::kMemory;
  }
  // The payload that is a stack, or empty.
  std::span<const record::Slot> ReadMemory(
      const record::Slot& head, std::span<const record::Slot> payload,
      model::MemoryRecord& record) const;

  const TickConverter& clock_;
  const std::span<const TickInterval> recorded_;
  NameMap& names_;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_DECODE_CHUNK_H_
