// range.h - records a range: the hot path.
//
//   OpenRange range;
//   BeginRange(range, "matmul", scope);   // two clock reads and
//   EndRange(range);                      // one 32-byte store
//
// Callers test the gate first. If it is kGateOn alone, they call BeginRange. If
// other bits ask for more (stacks, inputs), they call BeginRangeWithDetails. A
// range that was not begun, or was lost, has a null slot; ending it does
// nothing.
//
// The order of the stores: `begin` is written last and with release, so another
// process that sees it sees the whole record. `end` needs release only against
// the work inside the range. On x86 both are plain stores.
#ifndef KYMO_PROFILER_RECORD_RANGE_H_
#define KYMO_PROFILER_RECORD_RANGE_H_

#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profiler/base/clock.h"
#include "profiler/base/op_inputs.h"
#include "profiler/base/record_scope.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/host/host.h"
#include "profiler/record/host/thread_stream.h"

namespace kymo::record {

// A string literal (or __func__): text that stays at one address as long as its
// library is loaded. While recording, address and hash stand for the text, so
// that a name costs a pointer and a constant.
struct Literal {
  constexpr Literal() noexcept = default;
  template <size_t N>
  consteval Literal(const char (&literal)[N]) noexcept  // NOLINT: implicit
      : text(literal), size(N - 1), hash(2166136261u) {
    // FNV-1a, when compiled.
    for (const char c : literal) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    }
  }

  const char* text = nullptr;
  uint32_t size = 0;
  uint32_t hash = 0;
};
static_assert(sizeof(Literal) == 16);  // in two registers

struct OpenRange {
  Slot* slot = nullptr;
  uint64_t ticket = 0;
  ThreadStream* stream = nullptr;
  uint32_t depth = 0;
};

enum class ArgKind : uint8_t {
  kInt = static_cast<uint8_t>(PayloadKind::kInt),
  kDouble = static_cast<uint8_t>(PayloadKind::kDouble),
  kString = static_cast<uint8_t>(PayloadKind::kString),
};

// An argument on its way into a record. Text is borrowed for the call. It is
// written and read once for each argument of each range, so it is small, and
// has its PayloadHeader ready.
class Arg {
 public:
  template <std::integral T>
  constexpr Arg(Literal name, T value) noexcept
      : Arg(name, ArgKind::kInt, static_cast<uint64_t>(value)) {}
  constexpr Arg(Literal name, double value) noexcept
      : Arg(name, ArgKind::kDouble, std::bit_cast<uint64_t>(value)) {}
  constexpr Arg(Literal name, std::string_view value) noexcept
      : key(name),
        text_(value.data()),
        form_(Form(ArgKind::kString, value.size())) {}
  constexpr Arg(Literal name, const char* value) noexcept
      : Arg(name, TextAt(value)) {}

  constexpr ArgKind kind() const noexcept {
    return static_cast<ArgKind>(form_ & 0xff);
  }
  // Bytes of the number (8) or the text.
  constexpr size_t size() const noexcept { return form_ >> 16; }
  // REQUIRES: a number; its bits.
  constexpr uint64_t bits() const noexcept { return bits_; }
  // REQUIRES: kString.
  constexpr std::string_view text() const noexcept { return {text_, size()}; }
  // REQUIRES: size() < 2^16. Its PayloadHeader, but for the key.
  constexpr uint32_t header() const noexcept {
    return static_cast<uint32_t>(form_);
  }

  Literal key;

 private:
  constexpr Arg(Literal name, ArgKind kind, uint64_t bits) noexcept
      : key(name), bits_(bits), form_(Form(kind, 8)) {}
  static constexpr uint64_t Form(ArgKind kind, size_t size) noexcept {
    return static_cast<uint64_t>(kind) | uint64_t{size} << 16;
  }

  union {
    uint64_t bits_;
    const char* text_;
  };
  uint64_t form_;  // kind, no byte, size: as in a PayloadHeader
};
static_assert(sizeof(Arg) == 32);

// The parts of a range besides its name and scope. They are borrowed for the
// call.
struct RangeDetails {
  const Arg* args = nullptr;
  size_t arg_count = 0;
  const Input* inputs = nullptr;  // kept where kGateInputs is set
  size_t input_count = 0;
  Literal overload_name = {};      // kept where kGateOverloads is set
  int64_t sequence_nr = -1;        // -1 = none
  uint64_t forward_thread_id = 0;  // logical id; 0 = none
  int64_t debug_handle = -1;       // -1 = none
  uint32_t flags = 0;              // SlotFlag bits
  // The operation's stack begins with the caller of a function. This is that
  // function's __builtin_frame_address(0). Null: the recorder's own.
  const void* frame = nullptr;
};

inline uint32_t GateBits() noexcept {
  return gate.state.load(std::memory_order_relaxed);
}

// Whether anybody records ranges, or this copy has not asked the host yet.
inline bool IsOn() noexcept {
  return (GateBits() & (kGateOn | kGateUnresolved)) != 0;
}
// The same for records of any kind, captured ones included (captured.h).
inline bool IsAnythingOn() noexcept {
  return (GateBits() & ~uint32_t{kGateObserved}) != kGateOff;
}

// Out of line: the work once per chunk, per thread and per new name.
Slot* TakeSlotsSlow(uint32_t count) noexcept;
uint32_t InternSlow(ThreadStream* stream, Literal name) noexcept;
// By value: a range whose address is not taken lives in registers.
void EndElsewhere(Slot* slot, uint64_t ticket, ThreadStream* stream,
                  uint32_t depth) noexcept;

// Slots, and the ticket of the chunk in which they lie.
struct TakenSlots {
  Slot* head = nullptr;
  uint64_t ticket = 0;
};
TakenSlots TakeWithTicketSlow(uint32_t count) noexcept;

inline TakenSlots TakeWithTicket(uint32_t count) noexcept {
  ThreadStream* const stream = thread_stream;
  if (stream != nullptr) [[likely]] {
    Slot* const slot = TakeSlots(stream, count);
    // Read between the two: if a signal handler opens another chunk before
    // this, the slots are not taken; after it, this is still their ticket.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const uint64_t ticket = stream->ticket;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (AreTaken(stream, slot, count)) [[likely]]
      return {slot, ticket};
  }
  return TakeWithTicketSlow(count);
}

inline Slot* Take(uint32_t count) noexcept {
  ThreadStream* const stream = thread_stream;
  if (stream != nullptr) [[likely]] {
    Slot* const slot = TakeSlots(stream, count);
    if (AreTaken(stream, slot, count)) [[likely]]
      return slot;
  }
  return TakeSlotsSlow(count);
}

inline uint32_t NameId(ThreadStream* stream, Literal name) noexcept {
  const NameCacheEntry& entry = stream->names[NameCacheIndex(name.text)];
  if (entry.text == name.text && entry.hash == name.hash) [[likely]] {
    return entry.id;
  }
  return InternSlow(stream, name);
}

static_assert(static_cast<int>(RecordScope::kCount) <= 16);  // four bits

// Publishes a range whose payload, if any, is already behind the head.
inline void OpenSlot(OpenRange& range, TakenSlots taken, uint32_t name,
                     RecordScope scope, uint32_t extra_slots) noexcept {
  ThreadStream* const stream = thread_stream;
  Slot* const slot = taken.head;
  const uint32_t depth = stream->depth;
  range.slot = slot;
  range.ticket = taken.ticket;
  range.stream = stream;
  range.depth = depth;
  slot->name = name;
  slot->kind_scope_depth = PackKind(
      SlotKind::kRange, static_cast<uint8_t>(scope), depth & kMaxDepth);
  slot->extra_slots = extra_slots;
  stream->depth = depth + 1;
  slot->begin.store(ReadTicks(stream->clock_source), std::memory_order_release);
}

// REQUIRES: IsOn() was true.
inline void BeginRange(OpenRange& range, Literal name,
                       RecordScope scope) noexcept {
  const TakenSlots taken = TakeWithTicket(1);
  if (taken.head == nullptr) [[unlikely]]
    return;
  OpenSlot(range, taken, NameId(thread_stream, name), scope, 0);
}

// With arguments and, where `name.text` is null, a dynamic name.
void BeginRangeWithPayload(OpenRange& range, Literal name,
                           std::string_view dynamic_name, RecordScope scope,
                           const Arg* args, size_t arg_count) noexcept;

// Begins a range with all that the gate's bits ask for: inputs, the caller's
// stack. REQUIRES: IsOn() was true.
void BeginRangeWithDetails(OpenRange& range, Literal name,
                           std::string_view dynamic_name, RecordScope scope,
                           const RangeDetails& details) noexcept;

// Adds arguments to a range that is open, from any thread.
void AddArgs(const OpenRange& range, const Arg* args,
             size_t arg_count) noexcept;

inline void EndRange(OpenRange& range) noexcept {
  if (range.slot == nullptr) return;
  ThreadStream* const stream = thread_stream;
  // A ticket belongs to one chunk of one stream: equal means that this thread
  // still owns the chunk in which the range began.
  if (stream != nullptr && stream->ticket == range.ticket) [[likely]] {
    range.slot->end.store(ReadTicks(stream->clock_source),
                          std::memory_order_release);
    // Not a decrement: it also ends inner ranges that a longjmp left open.
    stream->depth = range.depth;
  } else {
    EndElsewhere(range.slot, range.ticket, range.stream, range.depth);
  }
  range.slot = nullptr;
}

// A point in time. REQUIRES: IsOn() was true.
void RecordInstant(Literal name, std::string_view dynamic_name, const Arg* args,
                   size_t arg_count) noexcept;

// A counter's value from now on. REQUIRES: IsOn() was true.
void RecordCounter(Literal name, double value) noexcept;
// The same with a name that is made at run time. It is looked up by its text.
void RecordCounter(std::string_view name, double value) noexcept;

// An allocation or a free, as PyTorch's reportMemoryUsageToProfiler has it.
struct MemoryReport {
  uint64_t address = 0;
  int64_t bytes = 0;  // signed: a free is negative
  int64_t total_allocated = 0;
  int64_t total_reserved = 0;
  uint8_t device_type = 0;
  int16_t device_index = -1;
  MemoryFlag flag = kMemoryAllocation;
};
// REQUIRES: IsOn() was true.
void RecordMemory(const MemoryReport& report) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_RANGE_H_
