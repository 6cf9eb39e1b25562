// caller_stack.h - a stack, captured before there is room for it in a record.
//
//   CallerStack stack;
//   stack.Capture(__builtin_frame_address(0));
//   Slot* const slot = Take(1 + PayloadSlots(stack.payload_bytes()));
//   PayloadWriter(slot + 1).Item(stack.payload(), stack.payload_bytes());
//
// For the .cc files of this folder only. It takes more than 500 bytes of the
// caller's stack, so functions that use it are not inlined into others.
#ifndef KYMO_PROFILER_RECORD_CALLER_STACK_H_
#define KYMO_PROFILER_RECORD_CALLER_STACK_H_

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "profiler/record/arena/layout.h"
#include "profiler/record/host/host.h"

namespace kymo::record {

class CallerStack {
 public:
  // Captures the return addresses above `frame`; of more than kMaxStackFrames
  // the innermost.
  void Capture(const void* frame) noexcept {
    size_ = Host().capture_stack(frame, item_.pcs, std::size(item_.pcs));
    const bool is_cut = size_ > kMaxStackFrames;
    if (is_cut) size_ = kMaxStackFrames;
    item_.header = {
        .kind = PayloadKind::kStack,
        .continues = 0,
        .size_bytes = static_cast<uint16_t>(size_ * sizeof(item_.pcs[0])),
        .key = is_cut};
  }

  size_t size() const noexcept { return size_; }
  // The item of a payload. REQUIRES: Capture was called.
  const void* payload() const noexcept { return &item_; }
  size_t payload_bytes() const noexcept {
    return sizeof(item_.header) + size_ * sizeof(item_.pcs[0]);
  }

 private:
  struct {
    PayloadHeader header;
    uint64_t pcs[kMaxStackFrames + 1];  // one more tells that there are more
  } item_;
  size_t size_ = 0;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_CALLER_STACK_H_
