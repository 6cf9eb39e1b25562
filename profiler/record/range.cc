#include "profiler/record/range.h"

#include <string.h>

#include "profiler/record/caller_stack.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/payload_writer.h"
#include "profiler/record/range_details.h"

namespace kymo::record {
namespace {

// REQUIRES: n <= text.size().
constexpr std::string_view Behind(std::string_view text, size_t n) noexcept {
  return {text.data() + n, text.size() - n};
}

size_t ItemBytes(const Arg& arg) noexcept {
  return sizeof(PayloadHeader) + RoundUp8(arg.size());
}

// Writes the rest of a text that is longer than a piece, in follow-up records.
// The first piece is in the record itself (for arguments, in the first
// follow-up).
void AddTextPieces(const OpenRange& range, PayloadKind kind,
                   std::string_view rest) noexcept {
  while (!rest.empty()) {
    const std::string_view piece = First(rest, kMaxPieceBytes);
    rest = Behind(rest, piece.size());
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
  for (const Arg* arg = args; arg != args + arg_count; ++arg) {
    bytes += ItemBytes(*arg);
  }
  return bytes;
}

// Returns the id for the head.
KYMO_INLINE uint32_t WriteNameAndArgs(PayloadWriter& writer, Literal name,
                                      std::string_view dynamic_name,
                                      const Arg* args,
                                      size_t arg_count) noexcept {
  ThreadStream* const stream = thread_stream;
  uint32_t id = kNameInPayload;
  if (name.text == nullptr) {
    writer.Text(PayloadKind::kName, kNameLost, dynamic_name);
  } else {
    id = NameId(stream, name);
  }
  for (const Arg* arg = args; arg != args + arg_count; ++arg) {
    writer.Argument(stream, *arg);
  }
  return id;
}

// Head slot, name and arguments; all but the head is written.
// REQUIRES: `bytes` is PayloadBytes of the same, and at most kMaxRecordBytes.
KYMO_INLINE TakenSlots TakeWithPayload(Literal name,
                                       std::string_view dynamic_name,
                                       const Arg* args, size_t arg_count,
                                       size_t bytes) noexcept {
  const uint32_t extra_slots = PayloadSlots(bytes);
  const TakenSlots taken = TakeWithTicket(1 + extra_slots);
  Slot* const slot = taken.head;
  if (slot == nullptr) return {};
  PayloadWriter writer(slot + 1);
  slot->name = WriteNameAndArgs(writer, name, dynamic_name, args, arg_count);
  slot->extra_slots = extra_slots;
  return taken;
}

// Begins a range whose payload does not fit into one record. The record has the
// name's first piece, and follow-up records have the rest.
__attribute__((noinline)) void BeginLongRange(OpenRange& range, Literal name,
                                              std::string_view dynamic_name,
                                              RecordScope scope,
                                              const Arg* args,
                                              size_t arg_count) noexcept {
  const std::string_view piece = First(dynamic_name, kMaxPieceBytes);
  const TakenSlots taken = TakeWithPayload(
      name, piece, nullptr, 0, PayloadBytes(name, piece, nullptr, 0));
  if (taken.head == nullptr) return;
  OpenSlot(range, taken, taken.head->name, scope, taken.head->extra_slots);
  AddTextPieces(range, PayloadKind::kName, Behind(dynamic_name, piece.size()));
  AddArgs(range, args, arg_count);
}

// Details in a follow-up record of their own.
void AddDetails(const OpenRange& range, const DetailItems& items,
                size_t bytes) noexcept {
  if (range.slot == nullptr || bytes == 0) return;
  Slot* const slot = TakeFollowUp(SlotKind::kExtra, range.ticket,
                                  SlotIndex(range.slot), PayloadSlots(bytes));
  if (slot == nullptr) return;
  PayloadWriter writer(slot + 1);
  items.Write(writer);
  Publish(slot);
}

// Puts the calling thread into the session of a record. So a follow-up from
// this thread is read together with the record.
class InSessionOf {
 public:
  InSessionOf(const Slot* slot, uint64_t ticket) noexcept {
    const HostApi& host = Host();
    const SessionId session = host.session_of(slot, ticket);
    if (session == kNoSession || session == host.thread_session()) return;
    before_ = host.exchange_thread_session(session);
    moved_ = true;
  }
  ~InSessionOf() {
    if (moved_) Host().exchange_thread_session(before_);
  }
  InSessionOf(const InSessionOf&) = delete;
  InSessionOf& operator=(const InSessionOf&) = delete;

 private:
  SessionId before_ = kNoSession;
  bool moved_ = false;
};

KYMO_INLINE void PublishCounter(Slot* slot, uint32_t name,
                                double value) noexcept {
  slot->name = name;
  slot->kind_scope_depth =
      PackKind(SlotKind::kCounter, 0, thread_stream->depth & kMaxDepth);
  slot->end.store(std::bit_cast<uint64_t>(value), std::memory_order_relaxed);
  Publish(slot);
}

}  // namespace

Slot* TakeSlotsSlow(uint32_t count) noexcept {
  // True for a signal handler while this thread chooses its host or refills.
  if (InSlowPath()) return nullptr;
  const HostApi& host = Host();
  // A copy whose gate was unresolved may learn here that nothing records.
  if (!IsAnythingOn()) return nullptr;
  return host.take_slots(&thread_stream, count);
}

TakenSlots TakeWithTicketSlow(uint32_t count) noexcept {
  Slot* const slot = TakeSlotsSlow(count);
  if (slot == nullptr) return {};
  const uint64_t ticket = thread_stream->ticket;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // If a signal handler filled this chunk since, nobody here knows its ticket.
  return IsInChunk(thread_stream, slot) ? TakenSlots{slot, ticket}
                                        : TakenSlots{};
}

uint32_t InternSlow(ThreadStream* stream, Literal name) noexcept {
  const uint32_t id = Host().intern(name.text, name.size);
  NameCacheEntry& entry = stream->names[NameCacheIndex(name.text)];
  // A signal handler in between sees either no entry or a whole one. If it
  // wrote an entry of its own here, that one is emptied again.
  entry.text = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  entry.id = id;
  entry.hash = name.hash;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  entry.text = name.text;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (entry.id != id || entry.hash != name.hash) entry.text = nullptr;
  return id;
}

void EndElsewhere(Slot* slot, uint64_t ticket, ThreadStream* stream,
                  uint32_t depth) noexcept {
  EndElsewhereAt(slot, ticket, stream, depth, 0);
}

void EndElsewhereAt(Slot* slot, uint64_t ticket, ThreadStream* stream,
                    uint32_t depth, uint64_t ticks) noexcept {
  // The gate may have been switched off since; then nobody wants the record.
  if (!IsAnythingOn()) return;
  {
    const InSessionOf session(slot, ticket);
    Slot* const end = TakeFollowUp(SlotKind::kEnd, ticket, SlotIndex(slot), 0);
    if (end != nullptr) {
      PublishAt(end,
                ticks != 0 ? ticks : ReadTicks(thread_stream->clock_source));
    }
  }
  if (thread_stream == stream && stream != nullptr) stream->depth = depth;
}

void BeginRangeWithPayload(OpenRange& range, Literal name,
                           std::string_view dynamic_name, RecordScope scope,
                           const Arg* args, size_t arg_count) noexcept {
  const size_t bytes = PayloadBytes(name, dynamic_name, args, arg_count);
  if (bytes > kMaxRecordBytes) [[unlikely]] {
    BeginLongRange(range, name, dynamic_name, scope, args, arg_count);
    return;
  }
  const TakenSlots taken =
      TakeWithPayload(name, dynamic_name, args, arg_count, bytes);
  if (taken.head == nullptr) return;
  OpenSlot(range, taken, taken.head->name, scope, taken.head->extra_slots);
}

namespace {

KYMO_INLINE void BeginWithItems(OpenRange& range, Literal name,
                                std::string_view dynamic_name,
                                RecordScope scope, const RangeDetails& details,
                                const DetailItems& items) noexcept {
  const size_t detail_bytes = items.Bytes();
  const size_t bytes =
      PayloadBytes(name, dynamic_name, details.args, details.arg_count);
  if (bytes + detail_bytes > kMaxRecordBytes) [[unlikely]] {
    BeginLongRange(range, name, dynamic_name, scope, details.args,
                   details.arg_count);
    AddDetails(range, items, detail_bytes);
    if (range.slot != nullptr) range.slot->flags = details.flags;
    return;
  }
  const uint32_t extra_slots = PayloadSlots(bytes + detail_bytes);
  const TakenSlots taken = TakeWithTicket(1 + extra_slots);
  Slot* const slot = taken.head;
  if (slot == nullptr) return;
  PayloadWriter writer(slot + 1);
  const uint32_t id = WriteNameAndArgs(writer, name, dynamic_name, details.args,
                                       details.arg_count);
  items.Write(writer);
  slot->flags = details.flags;
  OpenSlot(range, taken, id, scope, extra_slots);
}

// A function of its own, so that ranges without a stack do not reserve room for
// one on theirs.
__attribute__((noinline)) void BeginWithStack(OpenRange& range, Literal name,
                                              std::string_view dynamic_name,
                                              RecordScope scope,
                                              const RangeDetails& details,
                                              const void* frame) noexcept {
  CallerStack stack;
  stack.Capture(frame);
  BeginWithItems(range, name, dynamic_name, scope, details,
                 DetailItems(details, GateBits(), &stack));
}

}  // namespace

void BeginRangeWithDetails(OpenRange& range, Literal name,
                           std::string_view dynamic_name, RecordScope scope,
                           const RangeDetails& details) noexcept {
  const uint32_t bits = GateBits();
  // PyTorch's rule: backward operations get the stack of their forward one.
  if ((bits & kGateStacks) != 0 && scope != RecordScope::kBackwardFunction) {
    BeginWithStack(
        range, name, dynamic_name, scope, details,
        details.frame != nullptr ? details.frame : __builtin_frame_address(0));
  } else {
    BeginWithItems(range, name, dynamic_name, scope, details,
                   DetailItems(details, bits, nullptr));
  }
}

void AddArgs(const OpenRange& range, const Arg* args,
             size_t arg_count) noexcept {
  if (range.slot == nullptr || !IsOn()) return;
  const InSessionOf session(range.slot, range.ticket);
  for (size_t i = 0; i < arg_count; ++i) {
    Arg arg = args[i];
    std::string_view rest;
    if (arg.size() > kMaxPieceBytes) {
      rest = Behind(arg.text(), kMaxPieceBytes);
      arg = Arg(arg.key, First(arg.text(), kMaxPieceBytes));
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
    dynamic_name = First(dynamic_name, kMaxPieceBytes);
    arg_count = 0;
    bytes = PayloadBytes(name, dynamic_name, nullptr, 0);
  }
  Slot* const slot =
      TakeWithPayload(name, dynamic_name, args, arg_count, bytes).head;
  if (slot == nullptr) return;
  slot->kind_scope_depth =
      PackKind(SlotKind::kInstant, 0, thread_stream->depth & kMaxDepth);
  Publish(slot);
}

void RecordMemory(const MemoryReport& report) noexcept {
  CallerStack stack;
  if ((GateBits() & kGateStacks) != 0) {
    stack.Capture(__builtin_frame_address(0));
  }
  const uint32_t extra_slots =
      1 + (stack.size() == 0 ? 0 : PayloadSlots(stack.payload_bytes()));
  Slot* const slot = Take(1 + extra_slots);
  if (slot == nullptr) return;
  const MemoryPayload payload = {.bytes = report.bytes,
                                 .total_allocated = report.total_allocated,
                                 .total_reserved = report.total_reserved,
                                 .stack_size = stack.size()};
  memcpy(static_cast<void*>(slot + 1), &payload, sizeof(payload));
  if (stack.size() != 0) {
    PayloadWriter(slot + 2).Item(stack.payload(), stack.payload_bytes());
  }
  slot->name = report.device_type |
               uint32_t{static_cast<uint16_t>(report.device_index)} << 16;
  slot->flags = report.flag;
  slot->extra_slots = extra_slots;
  slot->kind_scope_depth =
      PackKind(SlotKind::kMemory, 0, thread_stream->depth & kMaxDepth);
  slot->end.store(report.address, std::memory_order_relaxed);
  Publish(slot);
}

void RecordCounter(Literal name, double value) noexcept {
  Slot* const slot = Take(1);
  if (slot == nullptr) return;
  PublishCounter(slot, NameId(thread_stream, name), value);
}

void RecordCounter(std::string_view name, double value) noexcept {
  Slot* const slot = Take(1);
  if (slot == nullptr) return;
  PublishCounter(slot, Host().intern(name.data(), name.size()), value);
}

}  // namespace kymo::record
