// capture.h - records NVTX's calls, whichever function they come through.
//
//   int level = Push(&default_domain, PlainEvent(text));
//   Pop(&default_domain);
//
// Threads: any. Errors: none; see profiler/record/captured.h.
#ifndef KYMO_BACKENDS_NVTX_TARGET_CAPTURE_H_
#define KYMO_BACKENDS_NVTX_TARGET_CAPTURE_H_

#include <string_view>

#include "backends/nvtx/target/domain.h"
#include "backends/nvtx/target/event_args.h"
#include "backends/nvtx/target/nvtx_abi.h"
#include "profiler/record/captured.h"
#include "profiler/record/captured_stack.h"

namespace kymo::nvtx {

inline bool IsCapturing() noexcept {
  return (record::GateBits() & record::kGateNvtx) != 0;
}

// A wide text as UTF-8, on the stack.
class Narrowed {
 public:
  explicit Narrowed(const wchar_t* text) noexcept
      : size_(text == nullptr
                  ? 0
                  : record::Utf8OfWide(text, bytes_, sizeof(bytes_))),
        is_null_(text == nullptr) {}
  bool is_null() const noexcept { return is_null_; }
  std::string_view view() const noexcept { return {bytes_, size_}; }

 private:
  char bytes_[record::kMaxWideTextBytes];
  size_t size_;
  bool is_null_;
};

// The name of a text that is not NUL-terminated. REQUIRES: IsCapturing().
record::ForeignName NameOfView(std::string_view text) noexcept;
record::ForeignName NameOfWide(const Narrowed& text) noexcept;

// --- ranges of a thread ---

// `record_into(range)` begins the range. It is called only if we are capturing.
template <typename RecordInto>
inline int Push(const Domain* domain, RecordInto record_into) noexcept {
  const int level = record::PushCaptured(domain, [&](record::OpenRange& range) {
    if (IsCapturing()) record_into(range);
  });
  return level < 0 ? kNoPushPopTracking : level;
}

inline int Pop(const Domain* domain) noexcept {
  record::OpenRange range;
  const int level = record::PopCaptured(domain, &range);
  if (level < 0) [[unlikely]] {
    if (IsCapturing()) record::CountEndWithoutBegin();
    return level;
  }
  record::EndRange(range);
  return level;
}

inline record::Captured Plain(record::ForeignName name) noexcept {
  return {.name = name, .source = record::kSlotNvtx};
}
inline record::Captured PlainIn(const Domain* domain,
                                record::ForeignName name) noexcept {
  return {
      .name = name, .source = record::kSlotNvtx, .domain = domain->NameId()};
}

// --- events with attributes ---

// Whether the event has only a message, of a kind that needs no conversion.
inline bool IsPlain(const EventAttributes& event) noexcept {
  return event.category == 0 && event.color_type == 0 &&
         event.payload_type == 0 && event.size >= sizeof(EventAttributes) &&
         (event.message_type == kAscii ||
          (event.message_type == kRegistered &&
           record::FindForeignText(event.message.registered) != nullptr));
}

// Out of line, for categories, colours, payloads and wide texts.
class FullEvent {
 public:
  FullEvent(const Domain* domain, const EventAttributes* event) noexcept;
  const record::Captured& captured() const noexcept { return captured_; }

 private:
  void Add(const Domain& domain, const EventAttributes& event) noexcept;
  record::ForeignName MessageOf(const EventAttributes& event) noexcept;
  void AddArgs(const Domain& domain, const EventAttributes& event) noexcept;

  EventArgs args_;
  char wide_[record::kMaxWideTextBytes];
  record::Captured captured_;
};

template <typename Record>
inline void WithEvent(const Domain* domain, const EventAttributes* event,
                      Record record) noexcept {
  if (event != nullptr && IsPlain(*event)) [[likely]] {
    record(
        PlainIn(domain, event->message_type == kAscii
                            ? record::NameOf(event->message.ascii)
                            : record::NameOf(static_cast<record::ForeignText*>(
                                  event->message.registered))));
    return;
  }
  [&]() __attribute__((noinline)) {
    const FullEvent full(domain, event);
    record(full.captured());
  }
  ();
}

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_CAPTURE_H_
