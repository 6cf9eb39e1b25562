// extensions.cc - our functions in the tables of NVTX's extensions: payloads
// with schemas, and counters.
#include <bit>
#include <string_view>

#include "backends/nvtx/target/capture.h"
#include "backends/nvtx/target/next_tool.h"
#include "backends/nvtx/target/nvtx_abi.h"
#include "backends/nvtx/target/payload.h"

namespace kymo::nvtx {
namespace {

using record::Captured;
using record::ForeignName;
using record::ForeignText;

// An event that consists of payloads alone.
class PayloadEvent {
 public:
  PayloadEvent(const Domain* domain, const PayloadData* data,
               size_t count) noexcept
      : captured_(PlainIn(domain, {})) {
    captured_.name = record::NameOf(static_cast<const char*>(nullptr));
    AddPayloads(*domain, data, count, args_, &captured_.name);
    captured_.args = args_.data();
    captured_.arg_count = args_.size();
  }
  const Captured& captured() const noexcept { return captured_; }

 private:
  EventArgs args_;
  Captured captured_;
};

FunctionPointer NextPayload(PayloadFunction function) noexcept {
  return FromSlot(next_tool.payload[function]);
}

uint64_t SchemaRegister(Handle handle,
                        const SchemaAttributes* attributes) noexcept {
  const uint64_t theirs =
      CallNext(NextPayload(kSchemaRegister), uint64_t{}, handle, attributes);
  const uint64_t ours = RegisterSchema(DomainOf(handle), attributes, theirs);
  return theirs != 0 ? theirs : ours;
}

uint64_t EnumRegister(Handle handle,
                      const EnumAttributes* attributes) noexcept {
  const uint64_t theirs =
      CallNext(NextPayload(kEnumRegister), uint64_t{}, handle, attributes);
  const uint64_t ours = RegisterEnum(DomainOf(handle), attributes, theirs);
  return theirs != 0 ? theirs : ours;
}

void MarkPayload(Handle handle, const PayloadData* data,
                 size_t count) noexcept {
  if (IsCapturing()) {
    const PayloadEvent event(DomainOf(handle), data, count);
    record::RecordCapturedInstant(event.captured());
  }
  TellNext(NextPayload(kMarkPayload), handle, data, count);
}

int RangePushPayload(Handle handle, const PayloadData* data,
                     size_t count) noexcept {
  const Domain* const domain = DomainOf(handle);
  const int level = Push(domain, [=](record::OpenRange& range) {
    const PayloadEvent event(domain, data, count);
    record::BeginCaptured(range, event.captured());
  });
  return CallNext(NextPayload(kRangePushPayload), level, handle, data, count);
}

int RangePopPayload(Handle handle, const PayloadData* data,
                    size_t count) noexcept {
  const Domain* const domain = DomainOf(handle);
  const record::OpenCaptured* const open = record::TopCaptured(domain);
  if (IsCapturing() && open != nullptr) {
    const PayloadEvent event(domain, data, count);
    record::AddCapturedArgs(open->range, event.captured().args,
                            event.captured().arg_count);
  }
  const int level = Pop(domain);
  return CallNext(NextPayload(kRangePopPayload), level, handle, data, count);
}

RangeId RangeStartPayload(Handle handle, const PayloadData* data,
                          size_t count) noexcept {
  RangeId ours = 0;
  if (IsCapturing()) {
    const PayloadEvent event(DomainOf(handle), data, count);
    ours = record::BeginCapturedAsync(event.captured());
  }
  const RangeId theirs =
      CallNext(NextPayload(kRangeStartPayload), RangeId{}, handle, data, count);
  if (theirs == 0) return ours;
  others_ranges.Put(theirs, ours);
  return theirs;
}

void RangeEndPayload(Handle handle, RangeId id, const PayloadData* data,
                     size_t count) noexcept {
  RangeId ours = id;
  if (has_next_tool) others_ranges.Take(id, &ours);
  if (ours != 0) {
    if (IsCapturing()) {
      const PayloadEvent event(DomainOf(handle), data, count);
      record::AddCapturedArgs(ours, event.captured().args,
                              event.captured().arg_count);
    }
    record::EndCapturedAsync(ours);
  }
  TellNext(NextPayload(kRangeEndPayload), handle, id, data, count);
}

uint8_t DomainIsEnabled(Handle handle) noexcept {
  const uint8_t ours = IsCapturing() ? 1 : 0;
  const uint8_t theirs =
      CallNext(NextPayload(kDomainIsEnabled), uint8_t{}, handle);
  return ours | theirs;
}

// --- counters ---

FunctionPointer NextCounter(CounterFunction function) noexcept {
  return FromSlot(next_tool.counter[function]);
}

// A counter is kept as a schema with one entry, which has the counter's name.
uint64_t CounterRegister(Handle handle,
                         const CounterAttributes* attributes) noexcept {
  const uint64_t theirs =
      CallNext(NextCounter(kCounterRegister), uint64_t{}, handle, attributes);
  if (attributes == nullptr || attributes->size < sizeof(*attributes)) {
    return theirs;
  }
  const SchemaEntry entry = {.flags = 0,
                             .type = kTypeDouble,
                             .name = attributes->name,
                             .description = nullptr,
                             .array_detail = 0,
                             .offset = 0,
                             .semantics = nullptr,
                             .reserved = nullptr};
  const SchemaAttributes schema = {.fields = kSchemaHasId,
                                   .name = nullptr,
                                   .type = kStaticSchema,
                                   .flags = 0,
                                   .entries = &entry,
                                   .entry_count = 1,
                                   .static_size = 0,
                                   .pack_align = 0,
                                   .id = attributes->id,
                                   .extension = nullptr};
  const uint64_t ours = RegisterSchema(DomainOf(handle), &schema, theirs);
  return theirs != 0 ? theirs : ours;
}

void CounterSample(Handle handle, uint64_t counter, double value) noexcept {
  if (!IsCapturing()) return;
  const Schema* const schema = DomainOf(handle)->FindSchema(counter);
  if (schema == nullptr || schema->field_count != 1 ||
      schema->fields[0].name == nullptr) {
    return;
  }
  const ForeignName name = record::NameOf(schema->fields[0].name);
  if (name.id == record::kNameInPayload)
    return record::Host().count_truncated();
  record::RecordCapturedCounter(name.id, record::kSlotNvtx, value);
}

void CounterSampleInt64(Handle handle, uint64_t counter,
                        int64_t value) noexcept {
  CounterSample(handle, counter, static_cast<double>(value));
  TellNext(NextCounter(kCounterSampleInt64), handle, counter, value);
}

void CounterSampleFloat64(Handle handle, uint64_t counter,
                          double value) noexcept {
  CounterSample(handle, counter, value);
  TellNext(NextCounter(kCounterSampleFloat64), handle, counter, value);
}

// --- attaching ---

// Slots that nobody sets are switched off by NVTX itself.
template <typename Function>
void Set(const ExtensionSegment& segment, unsigned id,
         Function* function) noexcept {
  if (id < segment.slot_count) {
    segment.slots[id] = reinterpret_cast<intptr_t>(function);
  }
}

// Passes the other tool's functions on, for slots that we do not set ourselves.
void PassOn(const ExtensionSegment& segment, const intptr_t* theirs) noexcept {
  for (size_t i = 0; i < segment.slot_count && i < NextTool::kSlots; ++i) {
    if (theirs[i] != 0) segment.slots[i] = theirs[i];
  }
}

int AttachPayload(const ExtensionSegment& segment) noexcept {
  PassOn(segment, next_tool.payload);
  Set(segment, kSchemaRegister, SchemaRegister);
  Set(segment, kEnumRegister, EnumRegister);
  Set(segment, kMarkPayload, MarkPayload);
  Set(segment, kRangePushPayload, RangePushPayload);
  Set(segment, kRangePopPayload, RangePopPayload);
  Set(segment, kRangeStartPayload, RangeStartPayload);
  Set(segment, kRangeEndPayload, RangeEndPayload);
  Set(segment, kDomainIsEnabled, DomainIsEnabled);
  return 1;
}

int AttachCounter(const ExtensionSegment& segment) noexcept {
  PassOn(segment, next_tool.counter);
  Set(segment, kCounterRegister, CounterRegister);
  Set(segment, kCounterSampleInt64, CounterSampleInt64);
  Set(segment, kCounterSampleFloat64, CounterSampleFloat64);
  return 1;
}

}  // namespace
}  // namespace kymo::nvtx

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))

KYMO_EXPORT int InitializeInjectionNvtxExtension(
    kymo::nvtx::ExtensionModule* module) {
  using namespace kymo::nvtx;  // NOLINT: of this file's own
  if (module == nullptr) return 0;
  const bool others = AttachNextExtension(module);
  if (module->segment_count != 1 || module->segments == nullptr ||
      module->segments[0].slots == nullptr) {
    return others;
  }
  if (module->module == kPayloadExtension) {
    return AttachPayload(module->segments[0]);
  }
  if (module->module == kCounterExtension) {
    return AttachCounter(module->segments[0]);
  }
  return others;
}

// As in injection.cc.
KYMO_EXPORT kymo::nvtx::InitializeExtension
    InitializeInjectionNvtxExtension_fnptr;
kymo::nvtx::InitializeExtension InitializeInjectionNvtxExtension_fnptr =
    InitializeInjectionNvtxExtension;
