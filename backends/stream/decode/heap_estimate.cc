#include "backends/stream/decode/heap_estimate.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_set>

#include "backends/stream/decode/decode_chunk.h"
#include "profiler/base/memory_category.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {
namespace {

using record::Slot;
using record::SlotKind;

// A place in the table of live blocks takes 32 bytes. The table is at least
// three eighths full, and is copied when it grows.
constexpr uint64_t kBytesPerBlock = 128;
// A sum, its places in tables, and the nodes of the stack, which takes 12 bytes
// for each frame that it shares with no other. Programs whose stacks have three
// to seven of these took 145 to 160 bytes in all (VmHWM of `kymo report`).
constexpr uint64_t kBytesPerStack = 250;
// The trace and its shard, for each byte of records (trace_memory.h).
constexpr uint64_t kBytesPerOtherByte = 3;
// A packed change of a recording with ranges (folded_changes.h), in a vector
// that is copied when it grows.
constexpr uint64_t kBytesPerChange = 12;
// Such a recording keeps the blocks of the peak, too.
constexpr uint64_t kBytesPerPeakBlock = 96;

class Estimate {
 public:
  explicit Estimate(bool with_changes) : with_changes_(with_changes) {}

  void Add(const Slot& head, std::span<const Slot> payload) {
    const SlotKind kind = record::UnpackKind(head.kind_scope_depth);
    if (!IsHeapRecord(head)) {
      other_bytes_ += (1 + payload.size()) * sizeof(Slot);
      with_changes_ |= MayHaveHeap(head);
      return;
    }
    ++records_;
    alive_ += kind == SlotKind::kAllocation ? 1 : -1;
    most_alive_ = std::max(most_alive_, alive_);
    if (kind == SlotKind::kAllocation && !payload.empty()) AddStack(payload);
  }

  uint64_t records() const { return records_; }
  uint64_t Bytes() const {
    const auto blocks = static_cast<uint64_t>(most_alive_);
    const uint64_t sums = blocks * kBytesPerBlock +
                          stacks_.size() * kBytesPerStack +
                          other_bytes_ * kBytesPerOtherByte;
    return with_changes_
               ? sums + records_ * kBytesPerChange + blocks * kBytesPerPeakBlock
               : sums;
  }

 private:
  void AddStack(std::span<const Slot> payload) {
    record::PayloadHeader header;
    std::memcpy(&header, payload.data(), sizeof(header));
    stacks_.insert(std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(payload.data()),
         std::min<size_t>(sizeof(header) + header.size_bytes,
                          payload.size_bytes())}));
  }

  bool with_changes_;
  uint64_t records_ = 0;
  int64_t alive_ = 0;  // less than 0: the chunks of a thread came late
  int64_t most_alive_ = 0;
  uint64_t other_bytes_ = 0;
  std::unordered_set<size_t> stacks_;
};

}  // namespace

std::optional<uint64_t> FoldedTraceBytes(const HeapToEstimate& heap) {
  if (heap.fold_above == ~uint64_t{0}) return std::nullopt;
  Estimate estimate(heap.others_record_ranges);
  for (const record::ChunkView& chunk : heap.chunks) {
    record::ForEachRecord(
        chunk, [&](const Slot& head, std::span<const Slot> payload, uint32_t) {
          estimate.Add(head, payload);
        });
    if (heap.release) heap.release(chunk);
    if (estimate.Bytes() > heap.most_bytes) return std::nullopt;
  }
  if (estimate.records() <= heap.fold_above) return std::nullopt;
  return estimate.Bytes();
}

bool SaysCategories(const record::Arena& arena) {
  const std::span<const std::byte> names = arena.name_texts();
  const std::string_view texts(reinterpret_cast<const char*>(names.data()),
                               names.size());
  return texts.find(kMemoryCategoryInstant) != texts.npos ||
         texts.find(kMemoryScopeInstant) != texts.npos;
}

}  // namespace kymo::stream
