#include "backends/stream/live_sums.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

#include "backends/stream/decode/arena_shard.h"
#include "backends/stream/trace_memory.h"
#include "profiler/base/available_memory.h"
#include "profiler/base/column.h"
#include "profiler/base/parallel.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/whole_io.h"
#include "profiler/model/records.h"

namespace kymo::stream {
namespace {

using record::ChunkState;
using record::ChunkView;

constexpr uint64_t kWindowBytes = 16 * kMib;
constexpr uint64_t kMostDiskBytes = 2048 * kMib;
constexpr uint64_t kMostTraceBytes = 200 * kMib;
constexpr uint64_t kMostWholeTraceBytes = 544 * kMib;

// Chunks that nobody has drained.
void AddUndrained(const record::Arena& arena,
                  std::unordered_set<uint64_t>& tickets) {
  for (uint32_t i = 0; i < arena.high_water(); ++i) {
    const record::ChunkWord& word = arena.word(i);
    if (record::OwnerState(word.owner.load(std::memory_order_acquire)) !=
        ChunkState::kFree) {
      tickets.insert(word.ticket.load(std::memory_order_relaxed));
    }
  }
}

DroppedRecords RecordsOf(const model::TraceShard& shard) {
  const auto events = std::count_if(
      shard.block.flags.begin(), shard.block.flags.end(),
      [](uint8_t flags) { return (flags & model::kEventRepeated) == 0; });
  return {.events = static_cast<uint64_t>(events),
          .counter_values = shard.counters.size()};
}

}  // namespace

LiveSumsOptions LiveSumsOptions::Of(uint64_t started_ticks,
                                    const ChunkStore& store,
                                    uint64_t arena_bytes,
                                    std::optional<uint64_t> max_disk,
                                    std::optional<uint64_t> max_memory) {
  const uint64_t memory_bytes = MemoryLimit(max_memory);
  LiveSumsOptions options = {
      .started_ticks = started_ticks,
      .most_disk_bytes = max_disk
                             ? *max_disk - std::min(arena_bytes, *max_disk / 2)
                             : std::min(kMostDiskBytes, store.RoomBytes() / 2),
      .disk_is_limited = max_disk.has_value(),
      .most_memory_bytes =
          std::min(memory_bytes, max_memory.value_or(kMostTraceBytes))};
  if (!max_disk && !max_memory) {
    options.most_whole_trace_bytes =
        std::min(kMostWholeTraceBytes, memory_bytes / 3);
  }
  return options;
}

LiveSums::LiveSums(std::shared_ptr<WindowReducer> reducer,
                   const record::Arena& arena, ChunkStore* store,
                   const LiveSumsOptions& options)
    : reducer_(std::move(reducer)),
      arena_(arena),
      store_(*store),
      started_ticks_(options.started_ticks),
      most_disk_bytes_(options.most_disk_bytes),
      disk_is_limited_(options.disk_is_limited),
      begin_at_bytes_(std::min(options.most_disk_bytes / 4 * 3,
                               RecordBytesFor(options.most_whole_trace_bytes))),
      window_bytes_(std::min(kWindowBytes, options.most_disk_bytes / 8)),
      keep_bytes_(std::min(begin_at_bytes_,
                           RecordBytesFor(options.most_memory_bytes))) {}

LiveSums::~LiveSums() {
  if (work_.valid()) work_.wait();
}

void LiveSums::Store(const ChunkView& chunk) {
  const uint64_t end = store_.end();
  store_.Add(chunk);
  if (store_.end() == end) return;
  pending_.push_back({chunk.ticket, end, store_.end()});
  left_bytes_ += pending_.back().bytes();
}

void LiveSums::EndPass(const TickConverter& clock) {
  if (pass_ends_.empty() || pass_ends_.back() != store_.end()) {
    pass_ends_.push_back(store_.end());
  }
  if (!has_begun() && store_.bytes() > begin_at_bytes_) clock_ = clock;
  if (!has_begun()) return;
  if (work_.valid()) {
    if (work_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      return;
    }
    Take(at_work_, work_.get());
  }
  // The disk has room again when all windows of a pass have been read.
  if (left_bytes_ <= keep_bytes_ && !is_full()) return;
  if (std::optional<Window> next = NextWindow()) Begin(*std::move(next));
}

void LiveSums::TakePasses() {
  if (pass_ends_.empty() || pending_.empty()) return;
  const uint64_t from = pending_.front().begin;
  passes_end_ = pass_ends_.front();
  while (!pass_ends_.empty() &&
         (pass_ends_.front() <= from + window_bytes_ || passes_.empty())) {
    passes_end_ = pass_ends_.front();
    pass_ends_.pop_front();
    while (!pending_.empty() && pending_.front().end <= passes_end_) {
      passes_.push_back(pending_.front());
      pending_.pop_front();
    }
  }
  std::stable_sort(
      passes_.begin(), passes_.end(),
      [](const Piece& a, const Piece& b) { return a.ticket < b.ticket; });
}

// Nothing if no pass has ended. Parts of one chunk stay together.
std::optional<LiveSums::Window> LiveSums::NextWindow() {
  if (passes_.empty()) TakePasses();
  if (passes_.empty()) return std::nullopt;
  Window window;
  while (!passes_.empty() &&
         (window.bytes < window_bytes_ ||
          passes_.front().ticket == window.pieces.back().ticket)) {
    window.bytes += passes_.front().bytes();
    window.pieces.push_back(passes_.front());
    passes_.pop_front();
  }
  if (passes_.empty()) window.drop_to = passes_end_;
  for (const Piece& piece : passes_) window.later.insert(piece.ticket);
  for (const Piece& piece : pending_) window.later.insert(piece.ticket);
  AddUndrained(arena_, window.later);
  return window;
}

// Where no thread can be had, as under a limit of processes, the collector
// reads the window itself. What the target records meanwhile waits in the
// arena.
void LiveSums::Begin(Window window) {
  at_work_ = std::move(window);
  const auto read = [this] {
    // The cores are the target's.
    const ParallelismLimit one(1);
    return ReadAndErase(at_work_);
  };
  try {
    work_ = std::async(std::launch::async, read);
    return;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  Take(at_work_, read());
}

void LiveSums::Take(const Window& window,
                    const absl::StatusOr<DroppedRecords>& records) {
  if (records.ok()) {
    dropped_.events += records->events;
    dropped_.counter_values += records->counter_values;
  } else {
    lost_bytes_ += window.bytes;
  }
  left_bytes_ -= window.bytes;
  if (window.drop_to != 0) {
    store_.DropUpTo(window.drop_to);
    dropped_tickets_.clear();
    return;
  }
  for (const Piece& piece : window.pieces) {
    dropped_tickets_.insert(piece.ticket);
  }
}

// The last window of its passes erases them all. Nobody else moves the front
// meanwhile.
absl::StatusOr<DroppedRecords> LiveSums::ReadAndErase(const Window& window) {
  absl::StatusOr<DroppedRecords> records = ReadGuarded(window);
  if (window.drop_to != 0) store_.Erase(store_.front(), window.drop_to);
  return records;
}

absl::StatusOr<DroppedRecords> LiveSums::ReadGuarded(const Window& window) {
  try {
    return Read(window);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("not enough memory");
  }
}

absl::StatusOr<DroppedRecords> LiveSums::Read(const Window& window) {
  Column<std::byte> buffer;
  buffer.resize(window.bytes);
  uint64_t at = 0;
  for (const Piece& piece : window.pieces) {
    if (!ReadWhole(store_.fd(), piece.begin, buffer.data() + at,
                   piece.bytes())) {
      return absl::DataLossError(
          "the file of drained records became shorter, or cannot be read");
    }
    at += piece.bytes();
  }
  std::vector<ChunkView> chunks = carried_.views();
  ReadChunkEntries({buffer.data(), buffer.size()}, chunks);
  TraceWindow part = {.shard = {},
                      .start_ns = clock_->ToEpochNs(started_ticks_),
                      .end_ns = std::numeric_limits<TimeNs>::max() / 2,
                      .is_last = window.is_last};
  if (window.is_last) part.end_ns = clock_->ToEpochNs(window.stopped_ticks);
  const std::vector<DecodedChunk> decoded =
      FillShard({.arena = arena_,
                 .chunks = std::move(chunks),
                 .clock = *clock_,
                 .losses_at_start = {},
                 .with_losses = false,
                 .recorded = {{.begin = 0, .end = window.stopped_ticks}},
                 .with_memory = false,
                 .only_ranges = true,
                 .is_elsewhere = [](uint64_t) { return true; }},
                part.shard);
  carried_.Update(
      decoded,
      {.is_last = window.is_last,
       .has_ticket =
           [&](uint64_t ticket) { return window.later.contains(ticket); },
       .has_stream = [](uint32_t) { return true; }},
      part.shard);
  const DroppedRecords records = RecordsOf(part.shard);
  KYMO_RETURN_IF_ERROR(
      reducer_->Add(std::move(part), window.is_left ? WindowLosses::kAreInShard
                                                    : WindowLosses::kCount));
  return records;
}

void LiveSums::Shrink(uint64_t memory_bytes) {
  if (work_.valid()) Take(at_work_, work_.get());
  keep_bytes_ = std::min(keep_bytes_, RecordBytesFor(memory_bytes));
  while (left_bytes_ > keep_bytes_) {
    const std::optional<Window> next = NextWindow();
    if (!next) break;
    Take(*next, ReadAndErase(*next));
  }
}

// The last window may have no chunks: then it ends what was carried to it.
void LiveSums::Finish(uint64_t stopped_ticks) {
  for (bool is_last = false; !is_last;) {
    Window window = NextWindow().value_or(Window());
    is_last = passes_.empty() && pending_.empty();
    window.is_left = true;
    window.is_last = is_last;
    window.stopped_ticks = stopped_ticks;
    if (!ReadGuarded(window).ok()) lost_bytes_ += window.bytes;
  }
}

}  // namespace kymo::stream
