#include "profiler/record/host/mappings.h"

#include <string.h>

#include "profiler/base/clock.h"
#include "profiler/base/code_mappings.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/host/thread_streams.h"

namespace kymo::record {
namespace {

// The number of the file at `address`, in its place above the address bits.
uint64_t FileMarkAt(uint64_t address) noexcept {
  const FileNumberAt number_at =
      own.file_number_at.load(std::memory_order_relaxed);
  if (number_at == nullptr) return 0;
  return uint64_t{number_at(address)} << kFileNumberShift;
}

void RecordMapping(const CodeMapping& code) noexcept {
  const size_t path_bytes = strlen(code.path) + 1;
  const uint32_t payload_slots =
      static_cast<uint32_t>(1 + (path_bytes + sizeof(Slot) - 1) / sizeof(Slot));
  Slot* const slot = OwnTake(1 + payload_slots);
  if (slot == nullptr) return;
  const uint64_t mark = FileMarkAt(code.start);
  const MappingPayload mapping = {.start = code.start | mark,
                                  .end = code.end | mark,
                                  .file_offset = code.file_offset,
                                  .inode = code.inode};
  memcpy(static_cast<void*>(slot + 1), &mapping, sizeof(mapping));
  memcpy(static_cast<void*>(slot + 2), code.path, path_bytes);
  slot->extra_slots = payload_slots;
  slot->kind_scope_depth = PackKind(SlotKind::kMapping, 0, 0);
  slot->begin.store(ReadTicks(thread_stream->clock_source),
                    std::memory_order_release);
}

}  // namespace

void RecordMappings() noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr ||
      wiped->maps_buffer_taken.exchange(1, std::memory_order_acquire) != 0) {
    // Another thread is recording them; the next stack asks again.
    if (wiped != nullptr) {
      wiped->mappings_recorded.store(0, std::memory_order_relaxed);
    }
    return;
  }
  const size_t too_long = ForEachCodeMapping(
      wiped->maps_buffer, sizeof(wiped->maps_buffer), RecordMapping);
  for (size_t i = 0; i < too_long; ++i) OwnCountTruncated();
  wiped->maps_buffer_taken.store(0, std::memory_order_release);
}

}  // namespace kymo::record
