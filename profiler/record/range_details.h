// range_details.h - writes a range's inputs, stack and numbers as items of its
// payload.
//
//   const DetailItems items(details, GateBits(), nullptr);
//   Slot* const slot = Take(1 + PayloadSlots(items.Bytes()));
//   PayloadWriter writer(slot + 1);
//   items.Write(writer);
//
// For range.cc only. Inputs that are too large for a record are left out, and
// counted.
#ifndef KYMO_PROFILER_RECORD_RANGE_DETAILS_H_
#define KYMO_PROFILER_RECORD_RANGE_DETAILS_H_

#include <cstddef>
#include <cstdint>

#include "profiler/record/caller_stack.h"
#include "profiler/record/payload_writer.h"
#include "profiler/record/range.h"

namespace kymo::record {

// Borrows both for its own lifetime.
class DetailItems {
 public:
  // `stack` is null where none is wanted.
  DetailItems(const RangeDetails& details, uint32_t gate_bits,
              const CallerStack* stack) noexcept
      : details_(details),
        stack_(stack),
        node_id_(gate_bits & kGateNode ? Host().node_id() : -1) {
    if (gate_bits & kGateOverloads) {
      overload_size_ = details.overload_name.size;
      if (overload_size_ > kMaxPieceBytes) [[unlikely]] {
        overload_size_ = kMaxPieceBytes;
        Host().count_truncated();
      }
    }
    if ((gate_bits & kGateInputs) == 0) return;
    input_bytes_ = EncodedInputBytes(details.inputs, details.input_count);
    if (input_bytes_ > kMaxPieceBytes) [[unlikely]] {
      input_bytes_ = 0;
      Host().count_truncated();
    }
  }

  size_t Bytes() const noexcept {
    size_t bytes = 0;
    if (HasSequence()) bytes += sizeof(PayloadHeader) + 8;
    if (HasHandle()) bytes += sizeof(PayloadHeader) + 8;
    if (overload_size_ != 0) {
      bytes += sizeof(PayloadHeader) + RoundUp8(overload_size_);
    }
    if (input_bytes_ != 0) bytes += sizeof(PayloadHeader) + input_bytes_;
    if (HasStack()) bytes += stack_->payload_bytes();
    return bytes;
  }

  KYMO_INLINE void Write(PayloadWriter& writer) const noexcept {
    if (HasSequence()) {
      writer.Word(PayloadKind::kSequence,
                  static_cast<uint32_t>(details_.forward_thread_id),
                  static_cast<uint64_t>(details_.sequence_nr));
    }
    if (HasHandle()) {
      writer.Word(PayloadKind::kHandle, static_cast<uint32_t>(node_id_ + 1),
                  static_cast<uint64_t>(details_.debug_handle));
    }
    if (overload_size_ != 0) {
      writer.Text(PayloadKind::kOverload, kNameLost,
                  {details_.overload_name.text, overload_size_});
    }
    if (input_bytes_ != 0) {
      writer.Block(PayloadKind::kInputs, 0, input_bytes_, [this](char* to) {
        EncodeInputs(details_.inputs, details_.input_count, to);
      });
    }
    if (HasStack()) writer.Item(stack_->payload(), stack_->payload_bytes());
  }

 private:
  bool HasStack() const noexcept {
    return stack_ != nullptr && stack_->size() != 0;
  }
  bool HasSequence() const noexcept {
    return details_.sequence_nr != -1 || details_.forward_thread_id != 0;
  }
  bool HasHandle() const noexcept {
    return details_.debug_handle != -1 || node_id_ != -1;
  }

  const RangeDetails& details_;
  const CallerStack* stack_;
  const int64_t node_id_;
  size_t overload_size_ = 0;  // 0: none, or nobody wants it
  size_t input_bytes_ = 0;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_RANGE_DETAILS_H_
