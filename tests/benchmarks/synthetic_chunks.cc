#include "tests/benchmarks/synthetic_chunks.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include "profiler/base/clock.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::benchmarks {
namespace {

using record::ChunkView;
using record::kSlotsPerChunk;
using record::Slot;

constexpr uint64_t kFirstTick = 1'000'000;
constexpr size_t kMaxOpen = 11;

// 2.5 ticks a nanosecond.
TickConverter Clock() {
  return TickConverter(ClockSource::kCounter,
                       {.ticks = kFirstTick, .monotonic_ns = 1'000},
                       {.ticks = kFirstTick + 2'500'000'000,
                        .monotonic_ns = 1'000 + kNsPerSecond},
                       /*epoch_offset_ns=*/1'700'000'000 * kNsPerSecond);
}

}  // namespace

// Fills the chunks of one thread.
class SyntheticChunks::Thread {
 public:
  Thread(SyntheticChunks& owner, uint32_t stream, uint32_t callees)
      : owner_(owner), stream_(stream), callees_(callees), random_(stream) {}

  void Record(size_t ranges) {
    for (size_t i = 0; i < ranges; ++i) {
      // Up or down with equal chance, within three to kMaxOpen open ranges.
      size_t keep = open_.size();
      while (keep > 0 && (keep >= kMaxOpen || (keep > 3 && random_() % 2))) {
        --keep;
      }
      while (open_.size() > keep) Close();
      Open();
    }
    while (!open_.empty()) Close();
  }

 private:
  uint64_t Tick() { return now_ += 50 + random_() % 200; }

  struct Range {
    uint64_t ticket;
    uint32_t index;
    uint32_t name;
  };

  // As the recorder: into the range's own slot, or, where its chunk is sealed,
  // as a record.
  void Close() {
    const Range range = open_.back();
    open_.pop_back();
    if (range.ticket == ticket_) {
      slots_[range.index].end.store(Tick(), std::memory_order_relaxed);
      return;
    }
    Slot& end = NextSlot(record::SlotKind::kEnd);
    end.end.store(range.ticket, std::memory_order_relaxed);
    end.name = range.index;
  }

  void Open() {
    Slot& slot = NextSlot(record::SlotKind::kRange);
    slot.name = NextName();
    open_.push_back({ticket_, used_ - 1, slot.name});
  }

  uint32_t NextName() {
    const auto names = static_cast<uint32_t>(owner_.names_.size());
    if (callees_ == 0) return 1 + random_() % names;
    const uint32_t caller = open_.empty() ? 0 : open_.back().name;
    return 1 + (caller * 31 + random_() % callees_) % names;
  }

  Slot& NextSlot(record::SlotKind kind) {
    if (used_ == kSlotsPerChunk) NextChunk();
    Slot& slot = slots_[used_++];
    slot.begin.store(Tick(), std::memory_order_relaxed);
    slot.kind_scope_depth =
        record::PackKind(kind, 0, static_cast<uint32_t>(open_.size()));
    owner_.input_.chunks[ticket_ - 1].slots = {slots_, used_};
    return slot;
  }

  void NextChunk() {
    owner_.chunks_.push_back(std::make_unique<Slot[]>(kSlotsPerChunk));
    slots_ = owner_.chunks_.back().get();
    used_ = 0;
    ticket_ = owner_.input_.chunks.size() + 1;
    owner_.input_.chunks.push_back({.stream = stream_, .ticket = ticket_});
  }

  SyntheticChunks& owner_;
  const uint32_t stream_;
  const uint32_t callees_;
  std::mt19937 random_;
  uint64_t now_ = kFirstTick;
  Slot* slots_ = nullptr;
  uint32_t used_ = kSlotsPerChunk;
  uint64_t ticket_ = 0;
  std::vector<Range> open_;
};

SyntheticChunks::SyntheticChunks(const SyntheticOptions& options)
    : ranges_(options.ranges / options.threads * options.threads),
      input_{.clock = Clock()} {
  for (uint32_t n = 0; n < options.names; ++n) {
    names_.push_back("operation_" + std::to_string(n));
  }
  for (uint32_t stream = 0; stream < options.threads; ++stream) {
    input_.stream_tracks.push_back(stream);
    Thread(*this, stream, options.callees).Record(ranges_ / options.threads);
  }
  input_.name_limit = options.names + 1;
  input_.name_text = [this](uint32_t id) -> std::string_view {
    return names_[(id - 1) % names_.size()];
  };
}

model::TraceShard SyntheticChunks::NewShard() const {
  model::TraceShard shard;
  for (const model::TrackIndex track : input_.stream_tracks) {
    shard.tracks.push_back({.pid = 1, .id = 1 + int64_t{track}});
  }
  return shard;
}

}  // namespace kymo::benchmarks
