#include "profiler/normalize/allocations.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/base/column.h"
#include "profiler/base/parallel.h"
#include "profiler/base/parallel_sort.h"
#include "profiler/base/time.h"

namespace kymo {
namespace {

using model::kNoMemory;
using model::Loss;
using model::MemoryEvent;
using model::MemoryIndex;
using model::MemoryRecord;
using model::MemorySource;

constexpr size_t kGrain = 64 * 1024;

// A record in an order that brings together the records of one block.
struct Entry {
  uint64_t group;  // process, source and device
  uint64_t address;
  TimeNs time_ns;
  MemoryIndex index;

  auto Block() const { return std::tie(group, address); }
  auto Order() const { return std::tie(group, address, time_ns, index); }
};

// A record's place in time.
struct Moment {
  TimeNs time_ns;
  MemoryIndex index;

  friend auto operator<=>(const Moment&, const Moment&) = default;
};

// The programs that ran in one process, numbered from `first` on.
struct Programs {
  uint64_t first = 0;
  std::span<const TimeNs> later_starts;
};

class Pairing {
 public:
  Pairing(model::TraceData& data, const ProgramReplacements& replacements,
          size_t records_per_part)
      : data_(data), memory_(data.memory), records_per_part_(records_per_part) {
    std::unordered_map<int64_t, Programs> by_pid;
    uint64_t programs = 0;
    for (const model::Track& track : data.tracks) {
      const auto [entry, is_new] = by_pid.try_emplace(track.pid);
      if (is_new) {
        entry->second.first = programs++;
        if (const auto it = replacements.find(track.pid);
            it != replacements.end()) {
          entry->second.later_starts = it->second;
          programs += it->second.size();
        }
      }
      programs_.push_back(entry->second);
    }
  }

  void Run() {
    PairBlocks();
    EndPrograms();
    AddTotals();
    DropUnknown();
  }

 private:
  static bool IsFree(const MemoryRecord& record) {
    return record.event == MemoryEvent::kFreeOfUnknown || record.bytes < 0;
  }
  static bool IsWatched(const MemoryRecord& record) {
    return record.source != MemorySource::kReported;
  }

  uint64_t ProgramOf(const MemoryRecord& record) const {
    const auto& [first, later] = programs_[record.track];
    const auto next =
        std::upper_bound(later.begin(), later.end(), record.time_ns);
    return first + static_cast<uint64_t>(next - later.begin());
  }

  static constexpr int kProgramShift = 24;
  static uint64_t ProgramOfGroup(uint64_t group) {
    return group >> kProgramShift;
  }
  uint64_t GroupOf(const MemoryRecord& record) const {
    return ProgramOf(record) << kProgramShift |
           uint64_t{static_cast<uint8_t>(record.source)} << 16 |
           uint64_t{static_cast<uint8_t>(record.device_type)} << 8 |
           uint64_t{static_cast<uint8_t>(record.device_index)};
  }

  // In parts by address, so that not all records need an entry at the same
  // time.
  void PairBlocks() {
    const size_t parts = 1 + memory_.size() / records_per_part_;
    for (size_t part = 0; part < parts; ++part) PairPart(part, parts);
    data_.ledger.Add(Loss::kFreesNotSeen, replaced_.size());
  }

  void PairPart(size_t part, size_t parts) {
    Column<Entry> entries;
    for (MemoryIndex i = 0; i < memory_.size(); ++i) {
      const MemoryRecord& record = memory_[i];
      if (record.event == MemoryEvent::kOutOfMemory || record.address == 0 ||
          (parts > 1 && PartOf(record.address, parts) != part)) {
        continue;
      }
      entries.push_back({GroupOf(record), record.address, record.time_ns, i});
    }
    ParallelSort(
        entries.begin(), entries.end(),
        [](const Entry& a, const Entry& b) { return a.Order() < b.Order(); });

    std::vector<std::vector<MemoryIndex>> replaced(
        ParallelRangeCount(entries.size(), kGrain));
    ParallelFor(entries.size(), kGrain, [&](size_t begin, size_t end) {
      PairRange(entries, begin, end, replaced[begin / kGrain]);
    });
    for (const std::vector<MemoryIndex>& of_range : replaced) {
      replaced_.insert(replaced_.end(), of_range.begin(), of_range.end());
    }
  }

  // Blocks of a program that another one replaced end with the first block of
  // their kind that the next program allocates.
  void EndPrograms() {
    const auto is_watched_block = [](const MemoryRecord& record) {
      return IsWatched(record) && record.address != 0 &&
             record.event == MemoryEvent::kAllocation && !IsFree(record);
    };
    std::map<uint64_t, Moment> first_of;  // by group
    for (MemoryIndex i = 0; i < memory_.size(); ++i) {
      const MemoryRecord& record = memory_[i];
      if (programs_[record.track].later_starts.empty() ||
          !is_watched_block(record)) {
        continue;
      }
      const Moment moment = {record.time_ns, i};
      const auto [entry, is_new] =
          first_of.try_emplace(GroupOf(record), moment);
      if (!is_new) entry->second = std::min(entry->second, moment);
    }
    for (MemoryRecord& record : memory_) {
      const Programs& programs = programs_[record.track];
      if (programs.later_starts.empty() || record.partner != kNoMemory ||
          !is_watched_block(record)) {
        continue;
      }
      const uint64_t last = programs.first + programs.later_starts.size();
      uint64_t group = GroupOf(record);
      while (record.partner == kNoMemory && ProgramOfGroup(group) < last) {
        group += uint64_t{1} << kProgramShift;
        const auto first = first_of.find(group);
        if (first != first_of.end()) record.partner = first->second.index;
      }
    }
  }

  static size_t PartOf(uint64_t address, size_t parts) {
    return (address * 0x9e3779b97f4a7c15u >> 32) % parts;
  }

  // Pairs the blocks whose first entry is in [begin, end).
  void PairRange(const Column<Entry>& entries, size_t begin, size_t end,
                 std::vector<MemoryIndex>& replaced) {
    while (begin < end && begin > 0 &&
           entries[begin].Block() == entries[begin - 1].Block()) {
      ++begin;
    }
    while (begin < end) {
      size_t next = begin + 1;
      while (next < entries.size() &&
             entries[next].Block() == entries[begin].Block()) {
        ++next;
      }
      PairBlock({&entries[begin], next - begin}, replaced);
      begin = next;
    }
  }

  void PairBlock(std::span<const Entry> history,
                 std::vector<MemoryIndex>& replaced) {
    MemoryIndex live = kNoMemory;
    for (const Entry& entry : history) {
      MemoryRecord& record = memory_[entry.index];
      if (!IsFree(record)) {
        if (live != kNoMemory && IsWatched(record)) {
          memory_[live].partner = entry.index;
          replaced.push_back(live);
        }
        live = entry.index;
        continue;
      }
      const bool says_bytes = record.event != MemoryEvent::kFreeOfUnknown;
      if (live == kNoMemory ||
          (says_bytes && record.bytes != -memory_[live].bytes)) {
        // The mapping is unmapped in parts, or is older than the recording.
        if (IsWatched(record)) record.event = MemoryEvent::kFreeOfUnknown;
        continue;
      }
      if (!says_bytes) {
        record.event = MemoryEvent::kAllocation;
        record.bytes = -memory_[live].bytes;
      }
      record.partner = live;
      memory_[live].partner = entry.index;
      live = kNoMemory;
    }
  }

  // The bytes of all allocations or frees that the record stands for.
  double Bytes(const MemoryRecord& record) const {
    const bool may_be_sampled = record.source == MemorySource::kHeap;
    return static_cast<double>(record.bytes) *
           model::MemorySampleWeight(
               record.bytes, may_be_sampled ? data_.memory_sample_interval : 0);
  }

  void AddTotals() {
    Column<Moment> order;
    for (MemoryIndex i = 0; i < memory_.size(); ++i) {
      if (IsWatched(memory_[i]) &&
          memory_[i].event == MemoryEvent::kAllocation) {
        order.push_back({memory_[i].time_ns, i});
      }
    }
    if (!std::is_sorted(order.begin(), order.end())) {
      ParallelSort(order.begin(), order.end(), std::less<>());
    }
    // Bytes of blocks whose free nobody saw, by the allocation that replaced
    // them.
    std::unordered_map<MemoryIndex, double> ended;
    for (const MemoryIndex old : replaced_) {
      ended[memory_[old].partner] += Bytes(memory_[old]);
    }
    std::map<uint64_t, double> totals;
    for (const auto& [time_ns, i] : order) {
      double& total = totals[GroupOf(memory_[i])];
      if (const auto end = ended.find(i); end != ended.end()) {
        total -= end->second;
      }
      total += Bytes(memory_[i]);
      memory_[i].total_allocated = std::llround(total);
    }
  }

  void DropUnknown() {
    const auto is_unknown = [](const MemoryRecord& record) {
      return record.event == MemoryEvent::kFreeOfUnknown;
    };
    const size_t unknown = static_cast<size_t>(
        std::count_if(memory_.begin(), memory_.end(), is_unknown));
    if (unknown == 0) return;
    data_.ledger.Add(Loss::kFreesOfUnknownBlocks, unknown);
    Column<MemoryIndex> moved_to(memory_.size());
    MemoryIndex kept = 0;
    for (size_t i = 0; i < memory_.size(); ++i) {
      moved_to[i] = kept;
      if (!is_unknown(memory_[i])) ++kept;
    }
    for (size_t i = 0; i < memory_.size(); ++i) {
      if (is_unknown(memory_[i])) continue;
      MemoryRecord record = memory_[i];
      if (record.partner != kNoMemory) {
        record.partner = moved_to[record.partner];
      }
      memory_[moved_to[i]] = record;
    }
    memory_.resize(kept);
  }

  model::TraceData& data_;
  Column<MemoryRecord>& memory_;
  const size_t records_per_part_;
  // The programs of the process of each track.
  std::vector<Programs> programs_;     // by track
  std::vector<MemoryIndex> replaced_;  // blocks whose free nobody saw
};

}  // namespace

void PairAllocations(model::TraceData& data,
                     const ProgramReplacements& replacements,
                     size_t records_per_part) {
  if (data.memory.empty()) return;
  Pairing(data, replacements, records_per_part).Run();
}

}  // namespace kymo
