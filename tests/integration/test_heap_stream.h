// test_heap_stream.h - the records of one thread, in chunks, for tests.
//
//   TestHeapStream stream(/*id=*/0, /*first_ticket=*/1);
//   stream.Add(record::SlotKind::kAllocation, 1'000, 16, 64, /*stack=*/1);
//   stream.AddTo(input.chunks);
#ifndef KYMO_TESTS_INTEGRATION_TEST_HEAP_STREAM_H_
#define KYMO_TESTS_INTEGRATION_TEST_HEAP_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "profiler/base/device_type.h"
#include "profiler/base/record_scope.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/arena/layout.h"

namespace kymo {

// Records of a thread, in chunks.
class TestHeapStream {
 public:
  // Stacks are 1 to kStacks, and 0 is none. The last one was cut.
  static constexpr uint32_t kStacks = 6;

  TestHeapStream(uint32_t id, uint64_t first_ticket)
      : id_(id), ticket_(first_ticket) {}

  void Add(record::SlotKind kind, uint64_t time, uint64_t address,
           uint32_t bytes, uint64_t stack) {
    const uint32_t extra = stack == 0 ? 0 : 1;
    record::Slot* const slot = Take(kind, time, extra);
    slot->end.store(address);
    slot->name = bytes;
    if (extra != 0) {
      const record::PayloadHeader header = {.kind = record::PayloadKind::kStack,
                                            .continues = 0,
                                            .size_bytes = 2 * sizeof(uint64_t),
                                            .key = stack == kStacks};
      const uint64_t pcs[2] = {stack, 1000 + stack};
      char* const at = reinterpret_cast<char*>(slot + 1);
      std::memcpy(at, &header, sizeof(header));
      std::memcpy(at + sizeof(header), pcs, sizeof(pcs));
    }
  }

  // Some ranges stay open.
  void BeginRange(uint64_t time, uint32_t name, RecordScope scope) {
    record::Slot* const slot =
        Take(record::SlotKind::kRange, time, 0, static_cast<uint8_t>(scope),
             static_cast<uint32_t>(open_.size()));
    slot->name = name;
    open_.push_back(slot);
  }
  // Ends the range that began last, or first.
  void EndRange(uint64_t time, bool is_first = false) {
    if (open_.empty()) return;
    const auto range = is_first ? open_.begin() : open_.end() - 1;
    (*range)->end.store(time);
    open_.erase(range);
  }
  void AddInstant(uint64_t time, uint32_t name) {
    Take(record::SlotKind::kInstant, time, 0)->name = name;
  }
  // What the program says of a pool of its own, or of a device.
  void AddReport(uint64_t time, uint64_t address, int64_t bytes,
                 DeviceType device = DeviceType::kCpu, int16_t index = -1,
                 uint32_t flags = 0) {
    record::Slot* const slot = Take(record::SlotKind::kMemory, time, 1);
    slot->end.store(address);
    slot->name = static_cast<uint32_t>(device) |
                 uint32_t{static_cast<uint16_t>(index)} << 16;
    slot->flags = flags;
    const record::MemoryPayload payload = {.bytes = bytes};
    std::memcpy(static_cast<void*>(slot + 1), &payload, sizeof(payload));
  }
  void AddMapping(uint64_t time, uint64_t address, uint32_t bytes) {
    record::Slot* const slot =
        Take(record::SlotKind::kAllocation, time, 0,
             static_cast<uint8_t>(record::HeapSource::kMapped));
    slot->end.store(address);
    slot->name = bytes;
  }

  void AddTo(std::vector<record::ChunkView>& views) const {
    for (size_t i = 0; i < chunks_.size(); ++i) {
      views.push_back({.stream = id_,
                       .ticket = ticket_ + i,
                       .first_index = 0,
                       .slots = std::span(chunks_[i]).first(used_[i])});
    }
  }

 private:
  static constexpr size_t kSlots = 64;

  record::Slot* Take(record::SlotKind kind, uint64_t time, uint32_t extra,
                     uint8_t scope = 0, uint32_t depth = 0) {
    if (chunks_.empty() || used_.back() + 1 + extra > kSlots) {
      chunks_.emplace_back(kSlots);
      used_.push_back(0);
    }
    record::Slot* const slot = &chunks_.back()[used_.back()];
    slot->begin.store(time);
    slot->kind_scope_depth = record::PackKind(kind, scope, depth);
    slot->extra_slots = extra;
    used_.back() += 1 + extra;
    return slot;
  }

  const uint32_t id_;
  const uint64_t ticket_;
  std::vector<std::vector<record::Slot>> chunks_;
  std::vector<size_t> used_;
  std::vector<record::Slot*> open_;
};

}  // namespace kymo

#endif  // KYMO_TESTS_INTEGRATION_TEST_HEAP_STREAM_H_
