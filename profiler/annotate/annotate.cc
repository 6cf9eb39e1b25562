// annotate.cc - the C interface, on top of the recorder.
//
// Names come as pointers to text that may change, as NVTX's do. So they go
// through foreign_names.h, and open ranges through captured_stack.h.
#include "kymo/annotate.h"

#include <cstddef>
#include <string_view>

#include "profiler/base/record_scope.h"
#include "profiler/record/captured.h"
#include "profiler/record/captured_stack.h"
#include "profiler/record/foreign_names.h"
#include "profiler/record/host/open_door.h"
#include "profiler/record/range.h"

namespace kymo::annotate {
namespace {

using record::ForeignName;

// Tells ranges of this interface from those of others on the thread's stack.
constexpr char kDomain = 0;

// The first call of a copy chooses its host.
bool IsRecording() noexcept { return record::IsOn() && record::IsRecording(); }

// Pushes that are left out are always below those that are not. So each pop
// finds its own push, or an empty stack.
bool HasOpenRange() noexcept {
  const record::CapturedStack* const stack = record::captured_stack;
  return (stack != nullptr && stack->size != 0) ||
         record::captured_left_out != 0;
}

// The hash tells when other text stands at the same address.
record::Literal LiteralOf(std::string_view text) noexcept {
  record::Literal literal;
  literal.text = text.data();
  literal.size = static_cast<uint32_t>(text.size());
  literal.hash = 2166136261u;
  for (const char c : text) {
    literal.hash = (literal.hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  return literal;
}

// REQUIRES: IsRecording(). The range's stack begins with the caller of the
// function whose frame this is.
void Begin(record::OpenRange& range, const char* text,
           const void* frame) noexcept {
  const ForeignName name = record::NameOf(text);
  const bool has_id = name.id != record::kNameInPayload;
  constexpr uint32_t kMore = record::kGateStacks | record::kGateNode;
  if (has_id && (record::GateBits() & kMore) == 0) [[likely]] {
    const record::TakenSlots taken = record::TakeWithTicket(1);
    if (taken.head != nullptr) [[likely]] {
      taken.head->flags = record::kSlotPushed;
      record::OpenSlot(range, taken, name.id, RecordScope::kFunction, 0);
    }
    return;
  }
  record::BeginRangeWithDetails(
      range, has_id ? LiteralOf(name.text) : record::Literal(),
      has_id ? std::string_view() : name.text, RecordScope::kFunction,
      {.flags = record::kSlotPushed, .frame = frame});
}

template <typename Value>
void AddArg(const char* key, Value value) noexcept {
  const record::OpenCaptured* const open = record::TopCaptured(&kDomain);
  if (open == nullptr || open->range.slot == nullptr) return;
  const record::Arg arg(
      LiteralOf(key != nullptr ? key : record::kNoForeignName), value);
  record::AddArgs(open->range, &arg, 1);
}

}  // namespace
}  // namespace kymo::annotate

using kymo::annotate::kDomain;

extern "C" {

void kymo_push(const char* name) {
  const bool is_recording = kymo::annotate::IsRecording();
  if (!is_recording && !kymo::annotate::HasOpenRange()) return;
  const void* const frame = __builtin_frame_address(0);
  kymo::record::PushCaptured(&kDomain, [=](kymo::record::OpenRange& range) {
    if (is_recording) kymo::annotate::Begin(range, name, frame);
  });
}

void kymo_pop(void) {
  kymo::record::OpenRange range;
  if (kymo::record::PopCaptured(&kDomain, &range) >= 0) {
    kymo::record::EndRange(range);
  }
}

void kymo_arg_int(const char* key, int64_t value) {
  kymo::annotate::AddArg(key, value);
}

void kymo_arg_double(const char* key, double value) {
  kymo::annotate::AddArg(key, value);
}

void kymo_arg_text(const char* key, const char* value) {
  kymo::annotate::AddArg(key, value != nullptr ? value : "");
}

void kymo_instant(const char* name) {
  if (!kymo::annotate::IsRecording()) return;
  kymo::record::RecordCapturedInstant({.name = kymo::record::NameOf(name)});
}

void kymo_counter(const char* name, double value) {
  if (!kymo::annotate::IsRecording()) return;
  const kymo::record::ForeignName known = kymo::record::NameOf(name);
  if (known.id != kymo::record::kNameInPayload) {
    kymo::record::RecordCapturedCounter(known.id, /*source=*/0, value);
  } else {
    kymo::record::RecordCounter(known.text, value);
  }
}

int kymo_is_recording(void) { return kymo::annotate::IsRecording(); }

int kymo_allow_attach(void) { return kymo::record::OpenDoor(); }

}  // extern "C"
