#include "backends/nvtx/target/capture.h"

#include <string.h>

#include "backends/nvtx/target/next_tool.h"
#include "backends/nvtx/target/payload.h"

namespace kymo::nvtx {

using record::ForeignName;
using record::ForeignText;

namespace {

constinit Key category_key("category");
constinit Key color_key("color");
constinit Key payload_key("payload");

}  // namespace

ForeignText* TextOf(Handle handle) noexcept {
  if (ForeignText* const ours = record::FindForeignText(handle)) return ours;
  uint64_t found = 0;
  if (has_next_tool && handle != nullptr &&
      others_strings.Find(reinterpret_cast<uint64_t>(handle), &found)) {
    return reinterpret_cast<ForeignText*>(found);
  }
  return nullptr;
}

ForeignName NameOfView(std::string_view text) noexcept {
  ForeignText* const known =
      record::AddForeignText(text, record::ForeignUse::kPassing);
  if (known == nullptr) return {record::kNameInPayload, text};
  return record::NameOf(known);
}

ForeignName NameOfWide(const Narrowed& text) noexcept {
  return text.is_null() ? NameOfView(record::kNoForeignName)
                        : NameOfView(text.view());
}

FullEvent::FullEvent(const Domain* domain,
                     const EventAttributes* event) noexcept {
  captured_ = PlainIn(domain, {});
  if (event != nullptr && event->size >= sizeof(*event)) [[likely]] {
    // Read in place: a copy would wait for what the caller has just written.
    Add(*domain, *event);
    return;
  }
  // Attributes of an older version are shorter.
  EventAttributes copy = {};
  if (event != nullptr) memcpy(&copy, event, event->size);
  Add(*domain, copy);
}

void FullEvent::Add(const Domain& domain,
                    const EventAttributes& event) noexcept {
  captured_.name = MessageOf(event);
  AddArgs(domain, event);
  captured_.args = args_.data();
  captured_.arg_count = args_.size();
}

ForeignName FullEvent::MessageOf(const EventAttributes& event) noexcept {
  switch (event.message_type) {
    case kAscii:
      return record::NameOf(event.message.ascii);
    case kUnicode:
      if (event.message.unicode == nullptr) break;
      return NameOfView({wide_, record::Utf8OfWide(event.message.unicode, wide_,
                                                   sizeof(wide_))});
    case kRegistered:
      if (ForeignText* const text = TextOf(event.message.registered)) {
        return record::NameOf(text);
      }
      break;
    default:
      break;
  }
  return record::NameOf(static_cast<const char*>(nullptr));
}

void FullEvent::AddArgs(const Domain& domain,
                        const EventAttributes& event) noexcept {
  if (ForeignText* const name = domain.CategoryName(event.category)) {
    args_.AddNamed(category_key.id(), name);
  } else if (event.category != 0) {
    args_.AddInt(category_key.id(), event.category);
  }
  if (event.color_type == 1) args_.AddInt(color_key.id(), event.color);
  switch (event.payload_type) {
    case kUint64:
      return args_.AddUint(payload_key.id(), event.payload.u64);
    case kInt64:
      return args_.AddInt(payload_key.id(), event.payload.i64);
    case kDouble:
      return args_.AddDouble(payload_key.id(), event.payload.f64);
    case kUint32:
      return args_.AddInt(payload_key.id(), event.payload.u32);
    case kInt32:
      return args_.AddInt(payload_key.id(), event.payload.i32);
    case kFloat:
      return args_.AddDouble(payload_key.id(), event.payload.f32);
    case kExtended:
      return AddPayloads(
          domain, reinterpret_cast<const PayloadData*>(event.payload.u64),
          static_cast<size_t>(event.extended_count), args_, &captured_.name);
    default:
      return;
  }
}

}  // namespace kymo::nvtx
