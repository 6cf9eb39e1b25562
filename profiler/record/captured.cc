#include "profiler/record/captured.h"

#include <bit>

#include "profiler/record/payload_writer.h"

namespace kymo::record {
namespace {

// The most bytes of one record's texts; the rest is cut, and counted.
constexpr size_t kMaxTextBytes = 4096;

// A debug handle of -1: none.
constexpr uint64_t kNoHandle = ~uint64_t{0};

// An asynchronous range's id: the place of its slot, and the ticket that its
// chunk had then. Only a recording of half a petabyte would need tickets of
// more than 33 bits.
constexpr int kIndexBits = 11;
constexpr int kChunkBits = 20;
static_assert(kSlotsPerChunk == 1u << kIndexBits);

// REQUIRES: this process has an arena, and the slot lies in it.
uint64_t PackId(uint64_t ticket, const Slot* slot) noexcept {
  const uint64_t place = slot - Host().arena()->slots(0);
  if (place >> (kIndexBits + kChunkBits) != 0) return 0;
  return ticket << (kIndexBits + kChunkBits) | place;
}

// Null if it cannot be a range's id.
Slot* SlotOf(uint64_t id, uint64_t* ticket) noexcept {
  const Arena* const arena = Host().arena();
  const uint32_t chunk = id >> kIndexBits & ((1u << kChunkBits) - 1);
  *ticket = id >> (kIndexBits + kChunkBits);
  if (arena == nullptr || *ticket == 0 || chunk >= arena->chunk_count()) {
    return nullptr;
  }
  return arena->slots(chunk) + (id & (kSlotsPerChunk - 1));
}

size_t ItemBytes(const CapturedArg& arg) noexcept {
  return sizeof(PayloadHeader) +
         (arg.kind == PayloadKind::kString
              ? RoundUp8(First(arg.text, kMaxTextBytes).size())
              : 8);
}

// The arguments that fit into `room` bytes.
size_t ArgsThatFit(const CapturedArg* args, size_t arg_count, size_t room,
                   size_t* bytes) noexcept {
  size_t count = 0;
  for (; count < arg_count; ++count) {
    const size_t next = ItemBytes(args[count]);
    if (*bytes + next > room) break;
    *bytes += next;
    if (args[count].text.size() > kMaxTextBytes) Host().count_truncated();
  }
  if (count < arg_count) Host().count_truncated();
  return count;
}

void WriteArgs(PayloadWriter& writer, const CapturedArg* args,
               size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) {
    const CapturedArg& arg = args[i];
    if (arg.kind == PayloadKind::kString) {
      writer.Text(arg.kind, arg.key, First(arg.text, kMaxTextBytes));
    } else {
      writer.Word(arg.kind, arg.key, arg.bits);
    }
  }
}

void AddArgsTo(uint64_t ticket, uint32_t index, const CapturedArg* args,
               size_t arg_count, uint64_t ticks) noexcept {
  if (arg_count == 0) return;
  size_t bytes = 0;
  const size_t count = ArgsThatFit(args, arg_count, kMaxRecordBytes, &bytes);
  Slot* const slot =
      TakeFollowUp(SlotKind::kExtra, ticket, index, PayloadSlots(bytes));
  if (slot == nullptr) return;
  PayloadWriter writer(slot + 1);
  WriteArgs(writer, args, count);
  PublishAt(slot, ticks != 0 ? ticks : TicksNow());
}

}  // namespace

TakenSlots TakeCaptured(const Captured& what) noexcept {
  const bool text_goes_along = what.name.id == kNameInPayload;
  const std::string_view text = First(what.name.text, kMaxTextBytes);
  size_t bytes = 0;
  if (text_goes_along) {
    bytes = sizeof(PayloadHeader) + RoundUp8(text.size());
    if (what.name.text.size() > kMaxTextBytes) Host().count_truncated();
  }
  const bool has_node = (GateBits() & kGateNode) != 0;
  if (has_node) bytes += sizeof(PayloadHeader) + 8;
  const size_t count =
      ArgsThatFit(what.args, what.arg_count, kMaxRecordBytes, &bytes);
  const uint32_t extra_slots = PayloadSlots(bytes);
  const TakenSlots taken = TakeWithTicket(1 + extra_slots);
  Slot* const slot = taken.head;
  if (slot == nullptr) return {};
  PayloadWriter writer(slot + 1);
  if (text_goes_along) writer.Text(PayloadKind::kName, kNameLost, text);
  if (has_node) {
    writer.Word(PayloadKind::kHandle,
                static_cast<uint32_t>(Host().node_id() + 1), kNoHandle);
  }
  WriteArgs(writer, what.args, count);
  slot->name = what.name.id;
  slot->extra_slots = extra_slots;
  slot->flags = what.flags();
  return taken;
}

uint64_t TicksNow() noexcept {
  const ThreadStream* const stream = thread_stream;
  return stream == nullptr ? 0 : ReadTicks(stream->clock_source);
}

uint64_t BeginCapturedAsync(const Captured& what, uint64_t ticks) noexcept {
  const TakenSlots taken = TakeCaptured(what);
  Slot* const slot = taken.head;
  if (slot == nullptr) return 0;
  slot->flags |= kSlotAsync;
  slot->kind_scope_depth =
      PackKind(SlotKind::kRange, static_cast<uint8_t>(kCapturedScope),
               thread_stream->depth & kMaxDepth);
  const uint64_t id = PackId(taken.ticket, slot);
  PublishAt(slot, ticks != 0 ? ticks : TicksNow());
  return id;
}

void EndCapturedAsync(uint64_t id, const CapturedArg* args, size_t arg_count,
                      uint64_t ticks) noexcept {
  uint64_t ticket = 0;
  Slot* const slot = SlotOf(id, &ticket);
  if (slot == nullptr) return CountEndWithoutBegin();
  if (arg_count != 0 && IsAnythingOn()) {
    AddArgsTo(ticket, SlotIndex(slot), args, arg_count, ticks);
  }
  const ThreadStream* const stream = thread_stream;
  if (stream == nullptr || stream->ticket != ticket) {
    return EndElsewhereAt(slot, ticket, nullptr, 0, ticks);
  }
  // This thread owns the chunk. Now check that it gave out this id.
  if (UnpackKind(slot->kind_scope_depth) != SlotKind::kRange ||
      (slot->flags & kSlotAsync) == 0 ||
      slot->end.load(std::memory_order_relaxed) != 0) {
    return CountEndWithoutBegin();
  }
  slot->end.store(ticks != 0 ? ticks : ReadTicks(stream->clock_source),
                  std::memory_order_release);
}

uint64_t EndCaptured(OpenRange& range, const CapturedArg* args,
                     size_t arg_count, uint64_t ticks) noexcept {
  if (ticks == 0) ticks = TicksNow();
  if (range.slot == nullptr) return ticks;
  if (arg_count != 0 && IsAnythingOn()) {
    AddArgsTo(range.ticket, SlotIndex(range.slot), args, arg_count, ticks);
  }
  ThreadStream* const stream = thread_stream;
  if (stream == nullptr || stream->ticket != range.ticket) {
    EndElsewhereAt(range.slot, range.ticket, range.stream, range.depth, ticks);
    if (ticks == 0) ticks = TicksNow();
  } else {
    range.slot->end.store(ticks, std::memory_order_release);
    stream->depth = range.depth;
  }
  range.slot = nullptr;
  return ticks;
}

void RecordCapturedInstantAt(uint64_t ticks, const Captured& what) noexcept {
  Slot* const slot = TakeCaptured(what).head;
  if (slot == nullptr) return;
  slot->kind_scope_depth =
      PackKind(SlotKind::kInstant, 0, thread_stream->depth & kMaxDepth);
  PublishAt(slot, ticks != 0 ? ticks : TicksNow());
}

void RecordCapturedInstant(const Captured& what) noexcept {
  RecordCapturedInstantAt(0, what);
}

void RecordCapturedCounter(uint32_t name, uint32_t source,
                           double value) noexcept {
  Slot* const slot = Take(1);
  if (slot == nullptr) return;
  slot->name = name;
  slot->flags = source;
  slot->kind_scope_depth =
      PackKind(SlotKind::kCounter, 0, thread_stream->depth & kMaxDepth);
  slot->end.store(std::bit_cast<uint64_t>(value), std::memory_order_relaxed);
  Publish(slot);
}

void RecordCapturedResource(ResourceKind kind, uint64_t handle,
                            const Captured& what) noexcept {
  Slot* const slot = Take(1);
  if (slot == nullptr) return;
  slot->name =
      what.name.id != kNameInPayload
          ? what.name.id
          : Host().intern(what.name.text.data(), what.name.text.size());
  slot->flags = what.flags();
  slot->kind_scope_depth =
      PackKind(SlotKind::kResource, static_cast<uint8_t>(kind), 0);
  slot->end.store(handle, std::memory_order_relaxed);
  Publish(slot);
}

void AddCapturedArgs(const OpenRange& range, const CapturedArg* args,
                     size_t arg_count) noexcept {
  if (range.slot == nullptr || !IsAnythingOn()) return;
  AddArgsTo(range.ticket, SlotIndex(range.slot), args, arg_count, 0);
}

void AddCapturedArgs(uint64_t id, const CapturedArg* args,
                     size_t arg_count) noexcept {
  uint64_t ticket = 0;
  const Slot* const slot = SlotOf(id, &ticket);
  if (slot == nullptr || !IsAnythingOn()) return;
  AddArgsTo(ticket, SlotIndex(slot), args, arg_count, 0);
}

void CountEndWithoutBegin() noexcept {
  if (!IsAnythingOn()) return;
  Slot* const slot = TakeFollowUp(SlotKind::kEnd, kNoTicket, 0, 0);
  if (slot != nullptr) Publish(slot);
}

}  // namespace kymo::record
