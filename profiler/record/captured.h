// captured.h - records of annotations that programs make through NVTX, ITT or
// the C interface.
//
//   const Captured what = {.name = NameOf(text), .source = kSlotNvtx};
//   OpenRange range;
//   BeginCaptured(range, what);          // nests with RecordFunction's ranges
//   EndRange(range);
//
//   uint64_t id = BeginCapturedAsync(what);   // a range of no thread
//   EndCapturedAsync(id);                     // any thread may end it
//
//   const CapturedArg args[] = {{.key = LiteralId("bytes"), .bits = 4}};
//   uint64_t ticks = EndCaptured(range, args, 1);  // one clock read for both
//
// The record is a range or an instant, as range.h makes it. Its flags say which
// interface it comes from, and the name of its domain. The keys of arguments
// are name ids: a program may make them at run time, so they are no literals.
//
// Threads: any. Errors: none. Records that cannot be kept are counted, and so
//   are ends without a begin (kEndsWithoutBegin).
#ifndef KYMO_PROFILER_RECORD_CAPTURED_H_
#define KYMO_PROFILER_RECORD_CAPTURED_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profiler/base/record_scope.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/foreign_names.h"
#include "profiler/record/range.h"

namespace kymo::record {

struct CapturedArg {
  uint32_t key = kNameLost;              // name id
  PayloadKind kind = PayloadKind::kInt;  // kInt, kDouble, kString or kNamed
  uint64_t bits = 0;                     // kNamed: the value's name id
  std::string_view text;                 // kString; borrowed for the call
};

// `user_annotation` in PyTorch's words.
inline constexpr RecordScope kCapturedScope = RecordScope::kUserScope;

struct Captured {
  ForeignName name;
  uint32_t source = 0;  // kSlotNvtx or kSlotItt; 0: none of these
  RecordScope scope = kCapturedScope;
  uint32_t domain = kNameLost;  // name id; kNameLost: none
  const CapturedArg* args = nullptr;
  size_t arg_count = 0;

  uint32_t flags() const noexcept {
    return source | domain << kSlotDomainShift;
  }
};

// The id of a literal, which names and keys may be. The id of text that a
// program hands over is NameOf's.
inline uint32_t LiteralId(Literal name) noexcept {
  ThreadStream* const stream = thread_stream;
  if (stream != nullptr) [[likely]]
    return NameId(stream, name);
  return Host().intern(name.text, name.size);
}

inline CapturedArg IntArg(Literal key, int64_t value) noexcept {
  return {.key = LiteralId(key), .bits = static_cast<uint64_t>(value)};
}

// Takes slots and writes all but the head's kind and times. Out of line.
TakenSlots TakeCaptured(const Captured& what) noexcept;

// REQUIRES, here and below: IsAnythingOn() was true.
inline void BeginCaptured(OpenRange& range, const Captured& what) noexcept {
  if (what.arg_count == 0 && what.name.id != kNameInPayload &&
      (GateBits() & kGateNode) == 0) [[likely]] {
    const TakenSlots taken = TakeWithTicket(1);
    if (taken.head == nullptr) [[unlikely]]
      return;
    taken.head->flags = what.flags();
    OpenSlot(range, taken, what.name.id, what.scope, 0);
    return;
  }
  const TakenSlots taken = TakeCaptured(what);
  if (taken.head == nullptr) return;
  OpenSlot(range, taken, taken.head->name, what.scope, taken.head->extra_slots);
}

// Begins a range that any thread may end by its id. It has no parent and no
// children. 0 = lost. `ticks`: when it began; 0 = now.
uint64_t BeginCapturedAsync(const Captured& what, uint64_t ticks = 0) noexcept;
// Arguments that only the end knows go along. `ticks`: when it ended; 0 = now.
void EndCapturedAsync(uint64_t id, const CapturedArg* args = nullptr,
                      size_t arg_count = 0, uint64_t ticks = 0) noexcept;

// Ends a range, as EndRange does, and adds arguments that only the end knows.
// `ticks`: when it ended; 0 = now. Returns the time of the end.
uint64_t EndCaptured(OpenRange& range, const CapturedArg* args,
                     size_t arg_count, uint64_t ticks = 0) noexcept;
// The time for records that are made together.
uint64_t TicksNow() noexcept;

void RecordCapturedInstant(const Captured& what) noexcept;
// `ticks`: its time; 0 = now.
void RecordCapturedInstantAt(uint64_t ticks, const Captured& what) noexcept;
// `name` is a name id.
void RecordCapturedCounter(uint32_t name, uint32_t source,
                           double value) noexcept;
void RecordCapturedResource(ResourceKind kind, uint64_t handle,
                            const Captured& what) noexcept;

// Adds arguments to a range that has begun.
void AddCapturedArgs(const OpenRange& range, const CapturedArg* args,
                     size_t arg_count) noexcept;
void AddCapturedArgs(uint64_t id, const CapturedArg* args,
                     size_t arg_count) noexcept;

void CountEndWithoutBegin() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_CAPTURED_H_
