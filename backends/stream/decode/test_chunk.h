// test_chunk.h - a chunk that a test fills by hand.
//
//   TestChunk chunk(/*stream=*/0, /*ticket=*/5);
//   Slot& head = chunk.Add(SlotKind::kRange, 10, 20, name_id);
//   chunk.AddPayload(PayloadKind::kString, key_id, "text", head);
//   input.chunks.push_back(chunk.view());
#ifndef KYMO_BACKENDS_STREAM_DECODE_TEST_CHUNK_H_
#define KYMO_BACKENDS_STREAM_DECODE_TEST_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {

// The bytes of a number, as payloads have them.
template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

class TestChunk {
 public:
  TestChunk(uint32_t stream, uint64_t ticket)
      : slots_(record::kSlotsPerChunk), stream_(stream), ticket_(ticket) {}

  record::Slot& Add(record::SlotKind kind, uint64_t begin, uint64_t end,
                    uint32_t name, uint32_t depth = 0, uint8_t scope = 0) {
    record::Slot& slot = slots_[used_++];
    slot.begin.store(begin);
    slot.end.store(end);
    slot.name = name;
    slot.kind_scope_depth = record::PackKind(kind, scope, depth);
    return slot;
  }

  // Adds a payload item to the last record, `head`.
  void AddPayload(record::PayloadKind kind, uint32_t key, std::string_view data,
                  record::Slot& head, bool continues = false) {
    const record::PayloadHeader header = {
        .kind = kind,
        .continues = continues,
        .size_bytes = static_cast<uint16_t>(data.size()),
        .key = key};
    AddBytes(head, BytesOf(header), data);
  }

  // The same for bytes without a header. They are padded to 8.
  void AddBytes(record::Slot& head, std::string_view first,
                std::string_view second = {}) {
    if (head.extra_slots == 0) payload_bytes_ = 0;
    char* const payload = reinterpret_cast<char*>(&head + 1);
    for (const std::string_view bytes : {first, second}) {
      if (bytes.empty()) continue;
      std::memcpy(payload + payload_bytes_, bytes.data(), bytes.size());
      payload_bytes_ += bytes.size();
    }
    payload_bytes_ = (payload_bytes_ + 7) / 8 * 8;
    used_ -= head.extra_slots;
    head.extra_slots = static_cast<uint32_t>(
        (payload_bytes_ + sizeof(record::Slot) - 1) / sizeof(record::Slot));
    used_ += head.extra_slots;
  }

  // Return addresses, innermost first. `key` 1: the stack was cut.
  void AddStack(std::initializer_list<uint64_t> pcs, record::Slot& head,
                uint32_t key = 0) {
    AddPayload(record::PayloadKind::kStack, key,
               {reinterpret_cast<const char*>(pcs.begin()),
                pcs.size() * sizeof(uint64_t)},
               head);
  }

  record::ChunkView view() const {
    return {.stream = stream_,
            .ticket = ticket_,
            .slots = std::span(slots_).first(used_)};
  }
  std::vector<record::Slot>& slots() { return slots_; }
  void set_used(size_t used) { used_ = used; }

 private:
  std::vector<record::Slot> slots_;
  size_t used_ = 0;
  size_t payload_bytes_ = 0;  // of the last record
  uint32_t stream_;
  uint64_t ticket_;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_TEST_CHUNK_H_
