#include "profiler/analysis/memory/memory_layers.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/open_events.h"
#include "profiler/base/parallel_sort.h"
#include "profiler/model/folded_memory.h"

namespace kymo::analysis {
namespace {

using model::MemoryIndex;
using model::MemoryRecord;
using model::NameId;
using model::Trace;

// A block that comes or goes.
struct Change {
  TimeNs time_ns = 0;
  MemoryIndex record = 0;
  uint32_t layer = 0;
  int64_t bytes = 0;
};

// Collects rows: of each slot, the moment with the most memory and the last.
class Rows {
 public:
  Rows(const Trace& trace, size_t layers, int64_t slots)
      : begin_(trace.start_ns()),
        slot_ns_(std::max<DurationNs>(
            (trace.end_ns() - trace.start_ns()) / slots, 1)) {
    now_.bytes.resize(layers);
  }

  void Add(TimeNs time_ns, uint32_t layer, int64_t bytes) {
    const int64_t slot = (time_ns - begin_) / slot_ns_;
    if (is_used_ && slot != slot_) EndSlot();
    slot_ = slot;
    now_.time_ns = time_ns;
    now_.bytes[layer] += bytes;
    sum_ += bytes;
    if (!is_used_ || sum_ > most_) {
      most_ = sum_;
      best_ = now_;
    }
    is_used_ = true;
  }

  std::vector<MemoryRow> End() {
    if (is_used_) EndSlot();
    return std::move(rows_);
  }

 private:
  void EndSlot() {
    rows_.push_back(best_);
    if (now_ != best_) rows_.push_back(now_);
    is_used_ = false;
  }

  const TimeNs begin_;
  const DurationNs slot_ns_;
  MemoryRow now_;
  int64_t sum_ = 0;
  int64_t slot_ = 0;
  bool is_used_ = false;  // the slot has a change
  int64_t most_ = 0;      // of the slot
  MemoryRow best_;
  std::vector<MemoryRow> rows_;
};

class LayerMaker {
 public:
  LayerMaker(const Trace& trace, const MemoryLayerLimits& limits)
      : trace_(trace),
        limits_(limits),
        pools_(trace),
        blocks_(trace),
        frames_(trace),
        allocations_(pools_.size()) {
    for (MemoryIndex i = 0; i < trace.memory().size(); ++i) {
      const MemoryRecord& record = trace.memory()[i];
      if (!blocks_.IsAllocation(i) || record.address == 0) continue;
      allocations_[pools_.IndexOf(record)].push_back(i);
    }
  }

  MemoryLayers Make(const MemoryProfile& profile) {
    MemoryLayers layers = {.pool = profile.pool};
    layers.has_operations = std::ranges::any_of(
        profile.peak.by_operation, [](const OperationMemory& group) {
          return group.id != model::kEmptyName;
        });
    layers.names = LargestNames(profile.peak, layers.has_operations);
    layer_of_name_.clear();
    for (const NameId name : layers.names) {
      layer_of_name_[name] = static_cast<uint32_t>(layer_of_name_.size());
    }
    Rows rows(trace_, layers.names.size() + 1, limits_.slots);
    for (const Change& change : Changes(layers)) {
      rows.Add(change.time_ns, change.layer, change.bytes);
    }
    layers.rows = rows.End();
    return layers;
  }

 private:
  std::vector<NameId> LargestNames(const MemoryPeak& peak,
                                   bool has_operations) {
    OperationMemorySums sums;
    const auto add = [&](NameId name, const auto& group) {
      sums.Add(name, {group.count * MemoryAmount::kOne, group.bytes});
    };
    if (has_operations) {
      for (const auto& group : peak.by_operation) add(group.id, group);
    } else {
      for (const auto& group : peak.by_stack) {
        add(frames_.OwnFunction(group.id), group);
      }
    }
    std::vector<NameId> names;
    for (const OperationMemory& group : sums.LargestFirst()) {
      if (names.size() == limits_.names) break;
      names.push_back(group.id);
    }
    return names;
  }

  std::vector<Change> Changes(const MemoryLayers& layers) {
    std::vector<Change> changes;
    const auto others = static_cast<uint32_t>(layers.names.size());
    const auto pool = std::ranges::lower_bound(pools_.all(), layers.pool);
    std::optional<OpenEvents> open;
    model::TrackIndex track = model::kNoTrack;
    for (const MemoryIndex i :
         allocations_[static_cast<size_t>(pool - pools_.all().begin())]) {
      const MemoryRecord& record = trace_.memory()[i];
      if (record.track != track) {
        track = record.track;
        open.emplace(trace_, track, record.time_ns);
      }
      NameId name = model::kEmptyName;
      if (!layers.has_operations) {
        name = frames_.OwnFunction(record.stack);
      } else if (const auto event = open->InnermostAt(record.time_ns);
                 event != model::kNoEvent) {
        name = trace_.name()[event];
      }
      const auto found = layer_of_name_.find(name);
      Change change = {
          .time_ns = record.time_ns,
          .record = i,
          .layer = found == layer_of_name_.end() ? others : found->second,
          .bytes = blocks_.AmountOf(i).bytes};
      changes.push_back(change);
      if (record.partner == model::kNoMemory) continue;
      change.time_ns = trace_.memory()[record.partner].time_ns;
      change.record = record.partner;
      change.bytes = -change.bytes;
      changes.push_back(change);
    }
    ParallelSort(changes.begin(), changes.end(),
                 [](const Change& a, const Change& b) {
                   return std::tie(a.time_ns, a.record, a.bytes) <
                          std::tie(b.time_ns, b.record, b.bytes);
                 });
    return changes;
  }

  const Trace& trace_;
  const MemoryLayerLimits limits_;
  const MemoryPools pools_;
  const MemoryBlocks blocks_;
  AllocationFrames frames_;
  std::vector<std::vector<MemoryIndex>> allocations_;  // by pool
  absl::flat_hash_map<NameId, uint32_t> layer_of_name_;
};

// The curve of a heap whose records were folded; null if they were not.
const model::FoldedHeap* FoldedHeapOf(const Trace& trace,
                                      const MemoryPool& pool) {
  if (trace.folded_memory() == nullptr ||
      pool.source != model::MemorySource::kHeap) {
    return nullptr;
  }
  for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
    if (trace.tracks()[heap.track].pid == pool.pid) return &heap;
  }
  return nullptr;
}

}  // namespace

std::vector<MemoryLayers> LayersOfMemory(
    const Trace& trace, std::span<const MemoryProfile> profiles,
    const MemoryLayerLimits& limits) {
  std::vector<MemoryLayers> all;
  if (profiles.empty()) return all;
  LayerMaker maker(trace, limits);
  for (const MemoryProfile& profile : profiles) {
    if (profile.peak.bytes == 0) continue;
    if (const model::FoldedHeap* heap = FoldedHeapOf(trace, profile.pool)) {
      Rows rows(trace, 1, limits.slots);
      int64_t last = 0;
      for (const model::FoldedPoint& point : heap->live) {
        rows.Add(point.time_ns, 0,
                 point.bytes - std::exchange(last, point.bytes));
      }
      all.push_back({.pool = profile.pool, .rows = rows.End()});
    } else {
      all.push_back(maker.Make(profile));
    }
  }
  return all;
}

}  // namespace kymo::analysis
