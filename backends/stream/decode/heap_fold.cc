#include "backends/stream/decode/heap_fold.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace kymo::stream {
namespace {

using model::BlockSum;
using model::FoldedChangeKind;
using model::FoldedMemory;
using model::FoldedStack;

// The most that FoldedChanges takes at once.
constexpr int64_t kMostChangeBytes = (int64_t{1} << 61) - 1;

size_t HistogramEntry(int64_t value) {
  return static_cast<size_t>(
      std::bit_width(static_cast<uint64_t>(std::max<int64_t>(value, 0))));
}

uint64_t KeyOf(model::TrackIndex track, model::StackId stack) {
  return uint64_t{track} << 32 | Index(stack);
}

uint64_t HashOf(uint64_t key) {
  const uint64_t hash = key * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

// The microsecond of a row in PyTorch's memory timeline: the double nearest to
// ns / 1000, cut off.
int64_t MicrosecondOf(TimeNs time_ns) {
  return static_cast<int64_t>(static_cast<double>(time_ns / kNsPerUs) +
                              static_cast<double>(time_ns % kNsPerUs) /
                                  static_cast<double>(kNsPerUs));
}

}  // namespace

bool LiveBlocks::Put(const Block& block, Block* old) {
  if ((count_ + 1) * 4 > blocks_.size() * 3) Grow();
  size_t place = PlaceOf(block.address);
  while (blocks_[place].address != 0) {
    if (blocks_[place].address == block.address) {
      *old = std::exchange(blocks_[place], block);
      return true;
    }
    place = Next(place);
  }
  blocks_[place] = block;
  ++count_;
  return false;
}

bool LiveBlocks::Remove(uint64_t address, Block* removed) {
  if (blocks_.empty()) return false;
  size_t place = PlaceOf(address);
  while (blocks_[place].address != address) {
    if (blocks_[place].address == 0) return false;
    place = Next(place);
  }
  *removed = blocks_[place];
  // Moves later blocks forward, so that no search ends too early.
  size_t hole = place;
  for (place = Next(place); blocks_[place].address != 0; place = Next(place)) {
    const size_t wanted = PlaceOf(blocks_[place].address);
    // Whether `wanted` is not behind the hole, going round.
    if (((place - wanted) & (blocks_.size() - 1)) >=
        ((place - hole) & (blocks_.size() - 1))) {
      blocks_[hole] = blocks_[place];
      hole = place;
    }
  }
  blocks_[hole].address = 0;
  --count_;
  return true;
}

void LiveBlocks::Clear() { *this = LiveBlocks(); }

void LiveBlocks::Grow() {
  if (blocks_.empty()) return blocks_.resize(kFirstSize);
  std::vector<Block> old(blocks_.size() * 2);
  old.swap(blocks_);
  --shift_;
  for (const Block& block : old) {
    if (block.address == 0) continue;
    size_t place = PlaceOf(block.address);
    while (blocks_[place].address != 0) place = Next(place);
    blocks_[place] = block;
  }
}

void HeapFold::Add(const HeapThread& thread, const HeapRecord& record) {
  Heap& heap = HeapOf(thread.pid);
  const bool is_of_next_program = heap.program != thread.program;
  if (record.is_free) {
    if (is_of_next_program) {
      ++frees_of_unknown_;
    } else {
      Free(heap, thread.track, record);
    }
    return;
  }
  const int64_t ended =
      is_of_next_program ? EndProgram(heap, thread, record.time_ns) : 0;
  Allocate(heap, thread.track, record, ended);
}

void HeapFold::Prefetch(const HeapThread& thread, const HeapRecord& record) {
  const Heap& heap = HeapOf(thread.pid);
  heap.live.Prefetch(record.address);
  if (!record.is_free) {
    heap.sum_of.Prefetch(HashOf(KeyOf(thread.track, record.stack)));
  }
}

int64_t HeapFold::EndProgram(Heap& heap, const HeapThread& thread,
                             TimeNs time_ns) {
  heap.live.ForEach([&](const LiveBlocks::Block& block) {
    heap.folded.replaced += {1, block.bytes};
    EndBlock(heap, block, /*is_temporary=*/false);
  });
  if (with_changes_) {
    for (int64_t left = heap.live_bytes; left != 0;) {
      const int64_t bytes = std::min(left, kMostChangeBytes);
      AddChange(heap, thread.track,
                {time_ns, -bytes, FoldedChangeKind::kUnseen});
      left -= bytes;
    }
  }
  heap.program = thread.program;
  heap.live.Clear();
  std::fill(heap.last_block.begin(), heap.last_block.end(), 0);
  return heap.live_bytes;
}

void HeapFold::AddChange(Heap& heap, model::TrackIndex track,
                         const model::FoldedChange& change) {
  OfRanges& all = heap.of_ranges;
  if (all.last == nullptr || all.last_track != track) {
    all.last = &all.threads[track];
    all.last_track = track;
  }
  all.last->Add(change);
}

// The peak's blocks are those that were there before it, and its own.
void HeapFold::EndBlock(Heap& heap, const LiveBlocks::Block& block,
                        bool is_temporary) {
  FoldedStack sum = heap.folded.stacks[block.sum];
  if (is_temporary) sum.temporary += {1, block.bytes};
  ChangeAlive(heap, block.sum, {-1, -block.bytes}, sum);
  heap.folded.stacks.Set(block.sum, sum);
  if (with_changes_ && block.peaks != heap.peaks) {
    heap.of_ranges.ended.push_back(block);
  }
}

void HeapFold::End(int64_t pid) { Finish(HeapOf(pid)); }

HeapFold::Heap& HeapFold::HeapOf(int64_t pid) {
  if (last_heap_ == nullptr || last_pid_ != pid) {
    last_heap_ = &heaps_[pid];
    last_pid_ = pid;
  }
  return *last_heap_;
}

uint32_t HeapFold::SumOf(Heap& heap, model::TrackIndex track,
                         model::StackId stack) {
  const uint64_t key = KeyOf(track, stack);
  Recent& recent =
      recent_[(key + 1) * 0x9e3779b97f4a7c15u >> (64 - kRecentBits)];
  if (recent.heap == &heap && recent.key == key) return recent.sum;
  model::FoldedStacks& sums = heap.folded.stacks;
  uint32_t& place = heap.sum_of.PlaceOf(HashOf(key), [&](uint32_t i) {
    return sums.stack(i) == stack && sums.track(i) == track;
  });
  const bool is_new = place == IndexTable::kNone;
  if (is_new) {
    place = static_cast<uint32_t>(sums.size());
    sums.push_back({.track = track, .stack = stack});
    heap.of_sums.emplace_back().thread =
        heap.thread_of
            .try_emplace(track, static_cast<uint32_t>(heap.thread_of.size()))
            .first->second;
    heap.last_block.resize(heap.thread_of.size());
  }
  recent = {&heap, key, place};
  if (is_new) {
    heap.sum_of.Grow(sums.size(), [&](uint32_t i) {
      return HashOf(KeyOf(sums.track(i), sums.stack(i)));
    });
  }
  return recent.sum;
}

void HeapFold::ChangeAlive(Heap& heap, uint32_t index, const BlockSum& change,
                           FoldedStack& sum) {
  uint32_t& peaks = heap.of_sums[index].peaks;
  if (peaks != heap.peaks) {
    peaks = heap.peaks;
    sum.at_peak = sum.alive;
  }
  sum.alive += change;
}

void HeapFold::Allocate(Heap& heap, model::TrackIndex track,
                        const HeapRecord& record, int64_t ended) {
  if (heap.folded.allocated.count == 0) {
    heap.folded.track = track;
    heap.folded.first_ns = record.time_ns;
  }
  const uint32_t index = SumOf(heap, track, record.stack);
  const BlockSum block = {1, record.bytes};
  heap.folded.allocated += block;
  ++heap.folded.sizes[HistogramEntry(record.bytes)];
  int64_t change = record.bytes - ended;
  LiveBlocks::Block old;
  if (heap.live.Put({.address = record.address,
                     .bytes = record.bytes,
                     .time_ns = record.time_ns,
                     .sum = index,
                     .peaks = heap.peaks},
                    &old)) {
    heap.folded.replaced += {1, old.bytes};
    ++frees_not_seen_;
    EndBlock(heap, old, /*is_temporary=*/false);
    change -= old.bytes;
    if (with_changes_) {
      AddChange(heap, track,
                {record.time_ns, -old.bytes, FoldedChangeKind::kUnseen});
    }
  }
  if (with_changes_) {
    AddChange(heap, track,
              {record.time_ns, record.bytes, FoldedChangeKind::kAllocation});
  }
  FoldedStack sum = heap.folded.stacks[index];
  sum.allocated += block;
  ChangeAlive(heap, index, block, sum);
  heap.folded.stacks.Set(index, sum);
  heap.last_block[heap.of_sums[index].thread] = record.address;
  AddToCurves(heap, record.time_ns, change);
  if (heap.live_bytes > heap.folded.peak_bytes) {
    heap.folded.peak_bytes = heap.live_bytes;
    heap.folded.peak_ns = record.time_ns;
    ++heap.peaks;
    heap.of_ranges.ended.clear();
  }
}

void HeapFold::Free(Heap& heap, model::TrackIndex track,
                    const HeapRecord& record) {
  LiveBlocks::Block block;
  if (!heap.live.Remove(record.address, &block)) {
    ++frees_of_unknown_;
    return;
  }
  heap.folded.freed += {1, block.bytes};
  ++heap.folded.lifetimes[HistogramEntry(record.time_ns - block.time_ns)];
  const bool is_temporary =
      heap.folded.stacks.track(block.sum) == track &&
      heap.last_block[heap.of_sums[block.sum].thread] == record.address;
  EndBlock(heap, block, is_temporary);
  if (with_changes_) {
    AddChange(heap, track,
              {record.time_ns, -block.bytes, FoldedChangeKind::kFree});
  }
  AddToCurves(heap, record.time_ns, -block.bytes);
}

void HeapFold::AddToCurves(Heap& heap, TimeNs time_ns, int64_t change) {
  heap.live_bytes += change;
  heap.curve.Add(time_ns, heap.live_bytes);
  const int64_t us = MicrosecondOf(time_ns);
  if (moments_ == 0 || us != moment_us_) {
    if (moments_ != 0) curve_.Add(moment_ns_, live_bytes_);
    ++moments_;
    moment_us_ = us;
    moment_ns_ = time_ns;
  }
  live_bytes_ += change;
}

void HeapFold::FinishPeak(Heap& heap) {
  if (heap.folded.peak_bytes == 0) return;
  std::vector<model::FoldedBlock>& blocks = heap.folded.peak_blocks;
  const auto add = [&](const LiveBlocks::Block& block) {
    if (block.peaks == heap.peaks) return;
    blocks.push_back(
        {heap.folded.stacks.track(block.sum), block.time_ns, block.bytes});
  };
  std::for_each(heap.of_ranges.ended.begin(), heap.of_ranges.ended.end(), add);
  heap.live.ForEach(add);
  std::sort(blocks.begin(), blocks.end());
}

void HeapFold::Finish(Heap& heap) {
  if (heap.is_finished) return;
  if (!heap.of_ranges.threads.empty()) FinishPeak(heap);
  for (auto& [track, changes] : heap.of_ranges.threads) {
    heap.folded.threads.push_back({track, std::move(changes)});
  }
  // They take as much memory as the sums themselves.
  heap.live.Clear();
  heap.sum_of = {};
  model::FoldedStacks& stacks = heap.folded.stacks;
  for (size_t i = 0; i < stacks.size(); ++i) {
    FoldedStack sum = stacks[i];
    if (heap.of_sums[i].peaks != heap.peaks) sum.at_peak = sum.alive;
    if (heap.folded.peak_bytes == 0) sum.at_peak = {};
    stacks.Set(i, sum);
  }
  stacks.SortAndJoin();
  heap.folded.live = heap.curve.Points();
  Heap finished;
  finished.folded = std::move(heap.folded);
  finished.is_finished = true;
  heap = std::move(finished);
}

std::shared_ptr<FoldedMemory> HeapFold::Take(model::LossLedger& ledger) && {
  auto memory = std::make_shared<FoldedMemory>();
  if (moments_ != 0) curve_.Add(moment_ns_, live_bytes_);
  memory->live = curve_.Points();
  memory->live_moments = moments_;
  for (auto& [pid, heap] : heaps_) {
    if (heap.folded.allocated.count == 0) continue;
    Finish(heap);
    memory->heaps.push_back(std::move(heap.folded));
  }
  ledger.Add(model::Loss::kFreesOfUnknownBlocks,
             static_cast<uint64_t>(frees_of_unknown_));
  ledger.Add(model::Loss::kFreesNotSeen,
             static_cast<uint64_t>(frees_not_seen_));
  return memory;
}

}  // namespace kymo::stream
