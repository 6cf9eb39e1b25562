#include "backends/stream/raw/raw_windows.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/stream/decode/arena_shard.h"
#include "backends/stream/raw/chunk_store.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/whole_io.h"
#include "profiler/model/trace_shard.h"

namespace kymo::stream {
namespace {

using record::ChunkView;
using record::Slot;

}  // namespace

absl::StatusOr<std::unique_ptr<RawWindows>> RawWindows::Open(
    const std::string& path, uint64_t window_bytes) {
  KYMO_ASSIGN_OR_RETURN(std::unique_ptr<RawParts> parts, RawParts::Open(path));
  std::unique_ptr<RawWindows> windows(
      new RawWindows(std::move(parts), window_bytes));
  windows->Index();
  return windows;
}

void RawWindows::Index() {
  IndexFile();
  std::set<uint64_t> drained;
  for (const IndexedChunk& chunk : index_) drained.insert(chunk.view.ticket);
  for (const ChunkView& view : parts_->TakeUndrained(drained)) {
    index_.push_back(
        {.view = view, .slots = static_cast<uint32_t>(view.slots.size())});
  }
  std::sort(index_.begin(), index_.end(),
            [](const IndexedChunk& a, const IndexedChunk& b) {
              return std::tie(a.view.ticket, a.view.first_index) <
                     std::tie(b.view.ticket, b.view.first_index);
            });
  for (const IndexedChunk& chunk : index_) {
    chunk_bytes_ += chunk.slots * sizeof(Slot);
    tickets_.insert(chunk.view.ticket);
    last_ticket_of_[chunk.view.stream] = chunk.view.ticket;
  }
}

// Like ReadChunkEntries, without reading the chunks.
void RawWindows::IndexFile() {
  const uint64_t end = parts_->file_bytes();
  uint64_t at = parts_->chunks_begin();
  ChunkEntry entry;
  while (at + sizeof(entry) <= end &&
         ReadWhole(parts_->fd(), at, &entry, sizeof(entry)) &&
         IsChunkEntry(entry, end - at - sizeof(entry))) {
    index_.push_back({.view = {.stream = entry.stream,
                               .ticket = entry.ticket,
                               .first_index = entry.first_index,
                               .slots = {}},
                      .at = at + sizeof(entry),
                      .slots = entry.slots});
    at += sizeof(entry) + entry.slots * sizeof(Slot);
  }
  if (at < end) cut_bytes_ = end - at;
}

// Parts of one chunk stay together.
size_t RawWindows::EndOfWindow() const {
  uint64_t bytes = 0;
  size_t end = next_;
  while (end < index_.size() &&
         (bytes < window_bytes_ ||
          index_[end].view.ticket == index_[end - 1].view.ticket)) {
    bytes += index_[end++].slots * sizeof(Slot);
  }
  return end;
}

absl::Status RawWindows::ReadChunks(size_t end,
                                    std::vector<ChunkView>& chunks) {
  uint64_t bytes = 0;
  for (size_t i = next_; i < end; ++i) bytes += index_[i].slots * sizeof(Slot);
  buffer_.resize(bytes);
  uint64_t at = 0;
  for (size_t i = next_; i < end; ++i) {
    const IndexedChunk& chunk = index_[i];
    chunks.push_back(chunk.view);
    if (!chunk.view.slots.empty()) continue;
    std::byte* const to = buffer_.data() + at;
    if (!ReadWhole(parts_->fd(), chunk.at, to, chunk.slots * sizeof(Slot))) {
      return absl::DataLossError(
          "the raw file became shorter, or cannot be read, while it was read");
    }
    chunks.back().slots = {reinterpret_cast<const Slot*>(to), chunk.slots};
    at += chunk.slots * sizeof(Slot);
  }
  return absl::OkStatus();
}

std::vector<std::string> RawWindows::Notes() const {
  std::vector<std::string> notes;
  if (!is_complete()) {
    notes.emplace_back(
        "nobody ended this recording: the command was killed, or still runs");
  }
  if (cut_bytes_ != 0) {
    notes.push_back(absl::StrCat("the last ", cut_bytes_,
                                 " bytes of the file are no whole chunk"));
  }
  return notes;
}

absl::StatusOr<TraceWindow> RawWindows::Next() {
  TraceWindow window;
  const RawHeader& header = parts_->header();
  const record::Arena& arena = parts_->arena();
  const bool is_first = next_ == 0;
  const size_t end = EndOfWindow();
  window.is_last = end == index_.size();
  std::vector<ChunkView> chunks = carried_.views();
  KYMO_RETURN_IF_ERROR(ReadChunks(end, chunks));
  const TickConverter clock = parts_->clock();
  if (is_first) {
    window.shard.ledger.Add(model::Loss::kDrainBytesLost, header.lost_bytes);
  }
  const std::vector<DecodedChunk> decoded = FillShard(
      {.arena = arena,
       .chunks = std::move(chunks),
       .clock = clock,
       .first_ticket = parts_->first_ticket(),
       .losses_at_start = is_first ? header.losses_before : ReadLosses(arena),
       .heap_at_start =
           is_first ? std::vector<HeapNumbers>() : ReadHeapNumbers(arena),
       .heap_sample_interval = header.heap_sample_interval,
       .with_memory = header.with_memory == 1,
       .only_ranges = true,
       .was_to_hold_time = header.was_to_hold_time == 1,
       .is_elsewhere = [this](uint64_t t) { return tickets_.contains(t); },
       .epoch_offset_ns = header.epoch_offset_ns},
      window.shard);
  for (const TimeNs t : window.shard.block.start_ns) {
    last_time_ns_ = std::max(last_time_ns_, t);
  }
  for (const TimeNs t : window.shard.block.end_ns) {
    last_time_ns_ = std::max(last_time_ns_, t);
  }
  const uint64_t later = window.is_last ? 0 : index_[end].view.ticket;
  carried_.Update(
      decoded,
      {.is_last = window.is_last,
       .has_ticket = [&](uint64_t ticket) { return ticket >= later; },
       .has_stream =
           [&](uint32_t stream) { return last_ticket_of_[stream] >= later; }},
      window.shard);
  next_ = end;
  is_done_ = window.is_last;
  window.start_ns = clock.ToEpochNs(header.first_anchor.ticks);
  window.end_ns = clock.ToEpochNs(header.last_anchor.ticks);
  if (!is_complete()) {
    window.end_ns = window.is_last ? std::max(window.end_ns, last_time_ns_)
                                   : std::numeric_limits<TimeNs>::max() / 2;
  }
  return window;
}

}  // namespace kymo::stream
