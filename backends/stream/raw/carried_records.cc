#include "backends/stream/raw/carried_records.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "backends/stream/decode/handed_on.h"
#include "backends/stream/decode/program_images.h"
#include "profiler/model/records.h"

namespace kymo::stream {
namespace {

using record::ChunkView;
using record::Slot;
using record::SlotKind;

// A copy of the record in the slot, as a chunk of its own.
std::pair<ChunkView, std::unique_ptr<Slot[]>> CopyRecord(const ChunkView& chunk,
                                                         size_t slot) {
  const size_t taken = record::RecordSlots(chunk.slots, slot);
  std::unique_ptr<Slot[]> slots =
      record::CopySlots(chunk.slots.subspan(slot, taken));
  ChunkView view = chunk;
  view.first_index = chunk.first_index + static_cast<uint32_t>(slot);
  view.slots = {slots.get(), taken};
  return {view, std::move(slots)};
}

// The slot of the chunk's n-th event.
size_t SlotOfEvent(const ChunkView& chunk, size_t n) {
  size_t slot = 0;
  record::ForEachRecord(
      chunk, [&](const Slot& head, std::span<const Slot>, uint32_t index) {
        const SlotKind kind = record::UnpackKind(head.kind_scope_depth);
        if (kind != SlotKind::kRange && kind != SlotKind::kInstant) return;
        if (n-- == 0) slot = index - chunk.first_index;
      });
  return slot;
}

size_t EndRow(std::span<const DecodedChunk> chunks) {
  return chunks.back().first_row + chunks.back().event_count;
}

// Rows of the ranges that enclose the records after the last row, and of the
// last row itself. Each row is less deep than all rows that follow it.
std::vector<size_t> RowsAround(const model::EventColumns& events, size_t begin,
                               size_t end) {
  std::vector<size_t> rows;
  uint32_t depth = std::numeric_limits<uint32_t>::max();
  for (size_t row = end; row > begin && depth > 0;) {
    --row;
    if ((events.flags[row] & model::kEventAsync) != 0 ||
        events.depth[row] >= depth) {
      continue;
    }
    depth = events.depth[row];
    if (model::IsRange(events.flags[row])) rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::vector<ChunkView> CarriedRecords::views() const {
  std::vector<ChunkView> views;
  for (const Record& record : records_) views.push_back(record.view);
  return views;
}

std::vector<ChunkView> CarriedRecords::UncountedViews() const {
  std::vector<ChunkView> views;
  for (const Record& record : records_) {
    if (!record.has_counted) views.push_back(record.view);
  }
  return views;
}

void CarriedRecords::Update(const std::vector<DecodedChunk>& chunks,
                            const LaterWindows& later,
                            model::TraceShard& shard) {
  Restore(chunks, shard.block);
  std::vector<Record> next;
  for (size_t begin = 0; begin < chunks.size() && !later.is_last;) {
    size_t end = begin + 1;
    while (end < chunks.size() &&
           chunks[end].view.stream == chunks[begin].view.stream) {
      ++end;
    }
    CarryStream(Chunks(chunks).subspan(begin, end - begin), later, shard.block,
                next);
    begin = end;
  }
  records_ = std::move(next);
  if (later.is_last) MarkHandedOn(chunks, shard.block);
  EndReplaced(chunks, shard.block);
}

// An event that has counted does not count again, and keeps its end.
void CarriedRecords::Restore(Chunks chunks, model::EventColumns& events) const {
  std::unordered_map<const Slot*, const Record*> counted;
  for (const Record& record : records_) {
    if (record.has_counted) counted.emplace(record.slots.get(), &record);
  }
  for (const DecodedChunk& chunk : chunks) {
    const auto it = counted.find(chunk.view.slots.data());
    if (it == counted.end() || chunk.event_count == 0) continue;
    events.end_ns[chunk.first_row] = it->second->end_ns;
    events.flags[chunk.first_row] |= model::kEventRepeated;
  }
}

void CarriedRecords::CarryStream(Chunks chunks, const LaterWindows& later,
                                 model::EventColumns& events,
                                 std::vector<Record>& next) {
  const auto carry = [&](const ChunkView& chunk, size_t slot, bool has_counted,
                         TimeNs end_ns) {
    auto [view, slots] = CopyRecord(chunk, slot);
    next.push_back({view, std::move(slots), has_counted, end_ns});
  };
  std::map<size_t, bool> rows;  // and whether they have counted
  for (const DecodedChunk& chunk : chunks) {
    for (const OpenRange& range : chunk.open) {
      if (events.end_ns[range.row] != 0) continue;
      rows.emplace(range.row, false);
      events.flags[range.row] |= model::kEventRepeated;
    }
    for (const uint32_t index : chunk.for_others) {
      const size_t slot = index - chunk.view.first_index;
      const uint64_t target =
          chunk.view.slots[slot].end.load(std::memory_order_relaxed);
      if (later.has_ticket(target)) carry(chunk.view, slot, false, 0);
    }
  }
  if (later.has_stream(chunks.front().view.stream)) {
    for (const size_t row :
         RowsAround(events, chunks.front().first_row, EndRow(chunks))) {
      rows.emplace(row, true);
    }
  }
  for (const auto& [row, has_counted] : rows) {
    const auto after = std::upper_bound(
        chunks.begin(), chunks.end(), row,
        [](size_t r, const DecodedChunk& c) { return r < c.first_row; });
    // A chunk without events has the first row of the next chunk.
    const DecodedChunk& chunk = *std::prev(after);
    carry(chunk.view, SlotOfEvent(chunk.view, row - chunk.first_row),
          has_counted, events.end_ns[row]);
  }
}

}  // namespace kymo::stream
