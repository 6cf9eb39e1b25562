// payload_writer.h - writes the payload that stands behind a record's head.
//
//   Slot* const slot = Take(1 + PayloadSlots(bytes));
//   PayloadWriter writer(slot + 1);
//   writer.Word(PayloadKind::kInt, key, 42);
//   writer.Text(PayloadKind::kString, key, "text");
//   Publish(slot);
//
// For the .cc files of this folder only.
#ifndef KYMO_PROFILER_RECORD_PAYLOAD_WRITER_H_
#define KYMO_PROFILER_RECORD_PAYLOAD_WRITER_H_

#include <string.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profiler/record/first.h"
#include "profiler/record/range.h"

namespace kymo::record {

constexpr size_t RoundUp8(size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

// The index of a slot in its chunk; chunks are aligned to their size.
inline uint32_t SlotIndex(const Slot* slot) noexcept {
  return static_cast<uint32_t>(
      (reinterpret_cast<uint64_t>(slot) & (kChunkBytes - 1)) / sizeof(Slot));
}

inline uint32_t PayloadSlots(size_t bytes) noexcept {
  return static_cast<uint32_t>((bytes + sizeof(Slot) - 1) / sizeof(Slot));
}

// A record is at most this long, so that it fits into a chunk.
inline constexpr size_t kMaxRecordBytes =
    sizeof(PayloadHeader) + kMaxPieceBytes;

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
  // An item of `size` bytes; `write` gets the address to write them to.
  template <typename Write>
  KYMO_INLINE void Block(PayloadKind kind, uint32_t key, size_t size,
                         Write write) noexcept {
    Header(kind, key, size);
    write(at_);
    at_ += RoundUp8(size);
  }
  // An item that is complete: its header, and data in steps of 8 bytes.
  KYMO_INLINE void Item(const void* item, size_t bytes) noexcept {
    memcpy(at_, item, bytes);
    at_ += bytes;
  }
  // REQUIRES: it fits into a record.
  KYMO_INLINE void Argument(ThreadStream* stream, const Arg& arg) noexcept {
    const uint64_t header =
        uint64_t{NameId(stream, arg.key)} << 32 | arg.header();
    memcpy(at_, &header, sizeof(header));
    at_ += sizeof(header);
    if (arg.kind() != ArgKind::kString) [[likely]] {
      const uint64_t bits = arg.bits();
      memcpy(at_, &bits, 8);
      at_ += 8;
    } else {
      memcpy(at_, arg.text().data(), arg.size());
      at_ += RoundUp8(arg.size());
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

// A record about another one: kEnd or kExtra.
inline Slot* TakeFollowUp(SlotKind kind, uint64_t ticket, uint32_t index,
                          uint32_t payload_slots) noexcept {
  Slot* const slot = Take(1 + payload_slots);
  if (slot == nullptr) return nullptr;
  slot->name = index;
  slot->kind_scope_depth = PackKind(kind, 0, 0);
  slot->extra_slots = payload_slots;
  slot->end.store(ticket, std::memory_order_relaxed);
  return slot;
}

inline void PublishAt(Slot* slot, uint64_t ticks) noexcept {
  slot->begin.store(ticks, std::memory_order_release);
}
inline void Publish(Slot* slot) noexcept {
  PublishAt(slot, ReadTicks(thread_stream->clock_source));
}

// EndElsewhere (range.h) with the time of the end. 0 = now.
void EndElsewhereAt(Slot* slot, uint64_t ticket, ThreadStream* stream,
                    uint32_t depth, uint64_t ticks) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_PAYLOAD_WRITER_H_
