#include "backends/stream/decode/decode_chunk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "profiler/model/activity_type.h"

namespace kymo::stream {
namespace {

using model::ActivityType;
using record::Slot;
using record::SlotKind;

// The meaning of an event's kind and scope, which are the low byte of its head.
struct EventKind {
  ActivityType type = ActivityType::kCpuOp;
  RecordScope scope = RecordScope::kFunction;
  uint8_t flags = 0;
};

constexpr std::array<EventKind, 256> MakeEventKinds() {
  std::array<EventKind, 256> kinds = {};
  for (uint32_t packed = 0; packed < kinds.size(); ++packed) {
    EventKind& kind = kinds[packed];
    const uint8_t scope = record::UnpackScope(packed);
    if (scope < static_cast<uint8_t>(RecordScope::kCount)) {
      kind.scope = static_cast<RecordScope>(scope);
    }
    if (record::UnpackKind(packed) == SlotKind::kInstant) {
      kind.type = ActivityType::kCpuInstantEvent;
      kind.flags = model::kEventInstant;
    } else if (kind.scope == RecordScope::kUserScope) {
      kind.type = ActivityType::kUserAnnotation;
    }
  }
  return kinds;
}

constexpr std::array<EventKind, 256> kEventKinds = MakeEventKinds();

EventKind KindOf(const Slot& head) {
  EventKind kind = kEventKinds[head.kind_scope_depth & 0xff];
  if (head.flags == 0 || kind.flags == model::kEventInstant) [[likely]] {
    return kind;
  }
  if (head.flags & record::kSlotNvtx) kind.type = ActivityType::kNvtxRange;
  if (head.flags & record::kSlotItt) kind.type = ActivityType::kIttTask;
  if (head.flags & record::kSlotAsync) kind.flags |= model::kEventAsync;
  if (head.flags & record::kSlotModule) {
    kind.flags |= model::kEventModule;
    // Kineto's category for frames and modules of the host language.
    kind.type = ActivityType::kPythonFunction;
  }
  return kind;
}

// Whether the range is a push, not an object that may go to another thread.
bool EndsWithThread(const Slot& head) {
  return (head.flags &
          (record::kSlotNvtx | record::kSlotItt | record::kSlotPushed)) != 0;
}

// The name id of a captured event's domain.
uint32_t DomainOf(const Slot& head) {
  return head.flags >> record::kSlotDomainShift;
}

// Limits bytes so that sums of them do not overflow, for broken targets.
constexpr int64_t SaneBytes(int64_t bytes) {
  return std::clamp(bytes, -kMostBytes, kMostBytes);
}

}  // namespace

void ChunkDecoder::Count(Chunk& chunk) const {
  size_t events = 0;
  size_t memory = 0;
  size_t heap = 0;
  uint64_t first = chunk.heap_first_ticks;
  uint64_t last = chunk.heap_last_ticks;
  bool others = false;
  bool ranges = false;
  const auto count = [&](const Slot& head, std::span<const Slot>, uint32_t) {
    if (IsHeapRecord(head)) {
      if (!IsWanted(head)) return;
      ++heap;
      const uint64_t ticks = head.begin.load(std::memory_order_relaxed);
      first = std::min(first, ticks);
      last = std::max(last, ticks);
      return;
    }
    others = true;
    if (BecomesEvent(head)) {
      ++events;
      ranges |= MayHaveHeap(head);
      names_.Mark(head.name);
    } else if (IsMemory(record::UnpackKind(head.kind_scope_depth)) &&
               IsWanted(head)) {
      ++memory;
    }
  };
  record::ForEachRecord(*chunk.view, count,
                        [&](const Slot&) { others = true; });
  chunk.event_count = events;
  chunk.memory_count = memory + heap;
  chunk.heap_count = heap;
  chunk.heap_first_ticks = first;
  chunk.heap_last_ticks = last;
  chunk.has_others = others;
  chunk.has_ranges = ranges;
}

void ChunkDecoder::Fill(Chunk& chunk, model::EventColumns& events,
                        Column<model::MemoryRecord>& memory) const {
  // Copies, because a store into a column of bytes may alias anything that is
  // not local, so the compiler would load it again.
  const TickConverter clock = clock_;
  const NameMap::View names = names_.view();
  TimeNs* const start_ns = events.start_ns.data();
  TimeNs* const end_ns = events.end_ns.data();
  model::NameId* const name = events.name.data();
  ActivityType* const type = events.type.data();
  RecordScope* const scope = events.scope.data();
  uint8_t* const flags = events.flags.data();
  uint32_t* const depth = events.depth.data();
  size_t row = chunk.first_row;
  size_t memory_row = chunk.first_memory;
  auto fill = [&](const Slot& head, std::span<const Slot> payload,
                  uint32_t index) {
    if (!BecomesEvent(head)) {
      if (chunk.without_heap && IsHeapRecord(head)) return;
      if (!IsMemory(record::UnpackKind(head.kind_scope_depth))) {
        AddToRest(chunk, head, payload, index);
      } else if (IsWanted(head) && !chunk.without_memory) {
        memory[memory_row].track = chunk.track;
        const std::span<const Slot> stack =
            ReadMemory(head, payload, memory[memory_row]);
        if (!stack.empty()) {
          chunk.rest.memory_stacks.push_back({stack, memory_row});
        }
        ++memory_row;
      }
      return;
    }
    const EventKind kind = KindOf(head);
    const uint64_t end = head.end.load(std::memory_order_relaxed);
    const bool is_instant = (kind.flags & model::kEventInstant) != 0;
    start_ns[row] = clock.ToEpochNs(head.begin.load(std::memory_order_relaxed));
    end_ns[row] = is_instant ? start_ns[row] : clock.ToEpochNs(end);
    if (end == 0 && !is_instant) [[unlikely]] {
      end_ns[row] = 0;
      chunk.rest.open.push_back({index, row, EndsWithThread(head)});
    }
    name[row] = names[head.name];
    type[row] = kind.type;
    scope[row] = kind.scope;
    flags[row] = kind.flags;
    depth[row] = record::UnpackDepth(head.kind_scope_depth);
    const uint32_t domain = DomainOf(head);
    if (!payload.empty() || domain != record::kNameLost) {
      chunk.rest.payloads.push_back({payload, row, domain});
    }
    ++row;
  };
  record::ForEachRecord(*chunk.view, fill,
                        [&](const Slot&) { ++chunk.rest.corrupt; });
}

void ChunkDecoder::AddToRest(Chunk& chunk, const Slot& head,
                             std::span<const Slot> payload,
                             uint32_t index) const {
  const TimeNs time_ns =
      clock_.ToEpochNs(head.begin.load(std::memory_order_relaxed));
  const uint64_t end = head.end.load(std::memory_order_relaxed);
  const SlotKind kind = record::UnpackKind(head.kind_scope_depth);
  if (kind == SlotKind::kEnd || kind == SlotKind::kExtra) {
    if (end == record::kNoTicket && !IsWanted(head)) return;
    chunk.rest.follow_ups.push_back(
        {kind, index, end, head.name, time_ns, payload});
    return;
  }
  if (!IsWanted(head)) return;
  switch (kind) {
    case SlotKind::kCounter:
      chunk.rest.counters.push_back(
          {head.name, time_ns, std::bit_cast<double>(end)});
      break;
    case SlotKind::kMapping:
      chunk.rest.mappings.push_back(payload);
      break;
    case SlotKind::kResource:
      chunk.rest.resources.push_back(
          {record::UnpackScope(head.kind_scope_depth), end, head.name,
           DomainOf(head)});
      break;
    default:
      ++chunk.rest.corrupt;
  }
}

std::span<const Slot> ChunkDecoder::ReadMemory(
    const Slot& head, std::span<const Slot> payload,
    model::MemoryRecord& record) const {
  record = {
      .track = record.track,
      .time_ns = clock_.ToEpochNs(head.begin.load(std::memory_order_relaxed)),
      .address = head.end.load(std::memory_order_relaxed)};
  const SlotKind kind = record::UnpackKind(head.kind_scope_depth);
  if (kind == SlotKind::kMemory) {
    record::MemoryPayload numbers = {};
    if (!payload.empty()) {
      std::memcpy(&numbers, payload.data(), sizeof(numbers));
      payload = payload.subspan(1);
    }
    if (head.flags == record::kMemoryOutOfMemory) {
      record.event = model::MemoryEvent::kOutOfMemory;
    }
    record.device_type = static_cast<int8_t>(head.name & 0xff);
    record.device_index = static_cast<int8_t>(head.name >> 16);
    record.bytes = SaneBytes(numbers.bytes);
    record.total_allocated = numbers.total_allocated;
    record.total_reserved = numbers.total_reserved;
    return payload;
  }
  record.source = record::UnpackScope(head.kind_scope_depth) ==
                          static_cast<uint8_t>(record::HeapSource::kMapped)
                      ? model::MemorySource::kMapped
                      : model::MemorySource::kHeap;
  const int64_t bytes = HeapBytesOf(head);
  if (kind == SlotKind::kAllocation) {
    record.bytes = bytes;
    // A mapping may be at address 0, a block of the heap is not.
    if (record.address == 0 && record.source == model::MemorySource::kHeap) {
      record.event = model::MemoryEvent::kOutOfMemory;
    }
  } else if (bytes != 0) {
    record.bytes = -bytes;
  } else {
    record.event = model::MemoryEvent::kFreeOfUnknown;
  }
  return payload;
}

std::vector<uint32_t> ChunkDecoder::RowsOf(const Chunk& chunk) const {
  std::vector<uint32_t> rows(chunk.view->slots.size(), kNoRow);
  uint32_t row = 0;
  record::ForEachRecord(
      *chunk.view,
      [&](const Slot& head, std::span<const Slot>, uint32_t index) {
        if (BecomesEvent(head)) rows[index - chunk.view->first_index] = row++;
      });
  return rows;
}

}  // namespace kymo::stream
