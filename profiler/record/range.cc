#include "profiler/record/range.h"

#include <string.h>

namespace kymo::record {
namespace {

constexpr size_t RoundUp8(size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

// Where slot i of its chunk stands; chunks are aligned to their size.
uint32_t SlotIndex(const Slot* slot) noexcept {
  return static_cast<uint32_t>(
      (reinterpret_cast<uint64_t>(slot) & (kChunkBytes - 1)) / sizeof(Slot));
}

size_t ItemBytes(const Arg& arg) noexcept {
  return sizeof(PayloadHeader) +
         (arg.kind == ArgKind::kString ? RoundUp8(arg.text.size()) : 8);
}

// Writes items into payload slots, which are zero before. Inlined by force: out
// of line it costs a third of a record with two arguments.
#define KYMO_INLINE inline __attribute__((always_inline))

class PayloadWriter {
 public:
  explicit PayloadWriter(Slot* first) noexcept
      : at_(reinterpret_cast<char*>(first)) {}

  KYMO_INLINE void Text(PayloadKind kind, uint32_t key, std::string_view text,
                        bool continues = false) noexcept {
    Header(kind, key, text.size(), continues);
    memcpy(at_, text.data(), text.size());
    at_ += RoundUp8(text.size());
  }
  KYMO_INLINE void Word(PayloadKind kind, uint32_t key,
                        uint64_t bits) noexcept {
    Header(kind, key, 8);
    memcpy(at_, &bits, 8);
    at_ += 8;
  }
  KYMO_INLINE void Argument(ThreadStream* stream, const Arg& arg) noexcept {
    const uint32_t key = NameId(stream, arg.key);
    switch (arg.kind) {
      case ArgKind::kInt:
        return Word(PayloadKind::kInt, key, arg.bits);
      case ArgKind::kDouble:
        return Word(PayloadKind::kDouble, key, arg.bits);
      case ArgKind::kString:
        return Text(PayloadKind::kString, key, arg.text);
    }
  }

 private:
  KYMO_INLINE void Header(PayloadKind kind, uint32_t key, size_t size,
                          bool continues = false) noexcept {
    const PayloadHeader header = {.kind = kind,
                                  .continues = continues,
                                  .size_bytes = static_cast<uint16_t>(size),
                                  .key = key};
    memcpy(at_, &header, sizeof(header));
    at_ += sizeof(header);
  }

  char* at_;
};

uint32_t PayloadSlots(size_t bytes) noexcept {
  return static_cast<uint32_t>((bytes + sizeof(Slot) - 1) / sizeof(Slot));
}

// A record about another one: kEnd or kExtra.
Slot* TakeFollowUp(SlotKind kind, uint64_t ticket, uint32_t index,
                   uint32_t payload_slots) noexcept {
  Slot* const slot = Take(1 + payload_slots);
  if (slot == nullptr) return nullptr;
  slot->name = index;
  slot->kind_scope_depth = PackKind(kind, 0, 0);
  slot->extra_slots = payload_slots;
  slot->end.store(ticket, std::memory_order_relaxed);
  return slot;
}

void Publish(Slot* slot) noexcept {
  slot->begin.store(ReadTicks(thread_stream->clock_source),
                    std::memory_order_release);
}

// Text longer than a piece, in follow-up records; the first piece stands in
// the record itself (or, for arguments, in the first follow-up).
void AddTextPieces(const OpenRange& range, PayloadKind kind,
                   std::string_view rest) noexcept {
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, kMaxPieceBytes);
    rest.remove_prefix(piece.size());
    Slot* const slot = TakeFollowUp(
        SlotKind::kExtra, range.ticket, SlotIndex(range.slot),
        PayloadSlots(sizeof(PayloadHeader) + RoundUp8(piece.size())));
    if (slot == nullptr) return;
    PayloadWriter(slot + 1).Text(kind, kNameLost, piece, true);
    Publish(slot);
  }
}

// Bytes of a record's payload.
KYMO_INLINE size_t PayloadBytes(Literal name, std::string_view dynamic_name,
                                const Arg* args, size_t arg_count) noexcept {
  size_t bytes = name.text != nullptr
                     ? 0
                     : sizeof(PayloadHeader) + RoundUp8(dynamic_name.size());
  for (size_t i = 0; i < arg_count; ++i) bytes += ItemBytes(args[i]);
  return bytes;
}

// Head slot, name and arguments; all but the head is written.
// REQUIRES: `bytes` is PayloadBytes of the same, and at most kMaxRecordBytes.
KYMO_INLINE Slot* TakeWithPayload(Literal name, std::string_view dynamic_name,
                                  const Arg* args, size_t arg_count,
                                  size_t bytes) noexcept {
  const uint32_t extra_slots = PayloadSlots(bytes);
  Slot* const slot = Take(1 + extra_slots);
  if (slot == nullptr) return nullptr;
  ThreadStream* const stream = thread_stream;
  PayloadWriter writer(slot + 1);
  if (name.text == nullptr) {
    writer.Text(PayloadKind::kName, kNameLost, dynamic_name);
    slot->name = kNameInPayload;
  } else {
    slot->name = NameId(stream, name);
  }
  for (size_t i = 0; i < arg_count; ++i) writer.Argument(stream, args[i]);
  slot->extra_slots = extra_slots;
  return slot;
}

constexpr size_t kMaxRecordBytes = sizeof(PayloadHeader) + kMaxPieceBytes;

// A range whose payload does not fit into one record: the name's first piece
// in it, everything else behind.
__attribute__((noinline)) void BeginLongRange(OpenRange& range, Literal name,
                                              std::string_view dynamic_name,
                                              uint8_t scope, const Arg* args,
                                              size_t arg_count) noexcept {
  const std::string_view piece = dynamic_name.substr(0, kMaxPieceBytes);
  Slot* const slot = TakeWithPayload(name, piece, nullptr, 0,
                                     PayloadBytes(name, piece, nullptr, 0));
  if (slot == nullptr) return;
  OpenSlot(range, slot, slot->name, scope, slot->extra_slots);
  AddTextPieces(range, PayloadKind::kName, dynamic_name.substr(piece.size()));
  AddArgs(range, args, arg_count);
}

}  // namespace

Slot* TakeSlotsSlow(uint32_t count) noexcept {
  // A signal handler, while this thread is choosing its host or refilling.
  if (InSlowPath()) return nullptr;
  const HostApi& host = Host();
  // A copy whose gate was unresolved may learn here that nothing records.
  if (!IsOn()) return nullptr;
  return host.take_slots(&thread_stream, count);
}

uint32_t InternSlow(ThreadStream* stream, Literal name) noexcept {
  const uint32_t id = Host().intern(name.text, name.size);
  NameCacheEntry& entry = stream->names[NameCacheIndex(name.text)];
  // A signal handler in between sees no entry or a whole one; and if it wrote
  // one of its own here, the entry is emptied again.
  entry.text = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  entry.id = id;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  entry.text = name.text;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (entry.id != id) entry.text = nullptr;
  return id;
}

void EndElsewhere(Slot* slot, uint64_t ticket, ThreadStream* stream,
                  uint32_t depth) noexcept {
  // The gate may have been switched off since; then nobody waits for this.
  if (!IsOn()) return;
  Slot* const end = TakeFollowUp(SlotKind::kEnd, ticket, SlotIndex(slot), 0);
  if (thread_stream == stream) stream->depth = depth;
  if (end != nullptr) Publish(end);
}

void BeginRangeWithPayload(OpenRange& range, Literal name,
                           std::string_view dynamic_name, uint8_t scope,
                           const Arg* args, size_t arg_count) noexcept {
  const size_t bytes = PayloadBytes(name, dynamic_name, args, arg_count);
  if (bytes > kMaxRecordBytes) [[unlikely]] {
    BeginLongRange(range, name, dynamic_name, scope, args, arg_count);
    return;
  }
  Slot* const slot =
      TakeWithPayload(name, dynamic_name, args, arg_count, bytes);
  if (slot == nullptr) return;
  OpenSlot(range, slot, slot->name, scope, slot->extra_slots);
}

void AddArgs(const OpenRange& range, const Arg* args,
             size_t arg_count) noexcept {
  if (range.slot == nullptr || !IsOn()) return;
  for (size_t i = 0; i < arg_count; ++i) {
    Arg arg = args[i];
    std::string_view rest;
    if (arg.kind == ArgKind::kString && arg.text.size() > kMaxPieceBytes) {
      rest = arg.text.substr(kMaxPieceBytes);
      arg.text = arg.text.substr(0, kMaxPieceBytes);
    }
    Slot* const slot =
        TakeFollowUp(SlotKind::kExtra, range.ticket, SlotIndex(range.slot),
                     PayloadSlots(ItemBytes(arg)));
    if (slot == nullptr) return;
    PayloadWriter(slot + 1).Argument(thread_stream, arg);
    Publish(slot);
    AddTextPieces(range, PayloadKind::kString, rest);
  }
}

void RecordInstant(Literal name, std::string_view dynamic_name, const Arg* args,
                   size_t arg_count) noexcept {
  size_t bytes = PayloadBytes(name, dynamic_name, args, arg_count);
  if (bytes > kMaxRecordBytes) [[unlikely]] {
    // An instant has no handle to add pieces to.
    Host().count_truncated();
    dynamic_name = dynamic_name.substr(0, kMaxPieceBytes);
    arg_count = 0;
    bytes = PayloadBytes(name, dynamic_name, nullptr, 0);
  }
  Slot* const slot =
      TakeWithPayload(name, dynamic_name, args, arg_count, bytes);
  if (slot == nullptr) return;
  slot->kind_scope_depth =
      PackKind(SlotKind::kInstant, 0, thread_stream->depth & kMaxDepth);
  Publish(slot);
}

void RecordCounter(Literal name, double value) noexcept {
  Slot* const slot = Take(1);
  if (slot == nullptr) return;
  ThreadStream* const stream = thread_stream;
  slot->name = NameId(stream, name);
  slot->kind_scope_depth =
      PackKind(SlotKind::kCounter, 0, stream->depth & kMaxDepth);
  slot->end.store(std::bit_cast<uint64_t>(value), std::memory_order_relaxed);
  Publish(slot);
}

}  // namespace kymo::record
