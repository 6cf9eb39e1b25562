// key_averages_worker.h - adds up events of some ranges of a trace, by group.
//
//   PerWorker<AveragesWorker<NameGroups>> workers(
//       [&] { return AveragesWorker<NameGroups>(job); });
//   ParallelFor(events, kRowsAtOnce, [&](size_t first, size_t last) {
//     workers.Local().Add(first, last);
//   });
//
// Each worker numbers the groups that it meets by itself, so workers share
// nothing and one pass is enough. Sums are integers and the first event is the
// smallest, so the workers' groups can be joined in any order.
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_WORKER_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_WORKER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "profiler/analysis/averages/key_averages.h"
#include "profiler/analysis/averages/key_averages_keys.h"
#include "profiler/base/time.h"
#include "profiler/model/event_calls.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

inline constexpr size_t kRowsAtOnce = size_t{32} << 10;
inline constexpr uint32_t kNoGroup = ~uint32_t{0};

// A worker's sums for one group; one cache line.
struct alignas(64) Sums {
  int64_t count = 0;
  DurationNs total_ns = 0;
  DurationNs self_ns = 0;
  DurationNs min_ns = std::numeric_limits<DurationNs>::max();
  DurationNs max_ns = std::numeric_limits<DurationNs>::min();
  TimeNs first_start = std::numeric_limits<TimeNs>::max();
  model::EventIndex first_event = model::kNoEvent;
};

// Sums that only some traces need.
struct ExtraSums {
  int64_t flops = 0;
  int64_t cpu_bytes = 0;
  int64_t self_cpu_bytes = 0;
  int64_t device_bytes = 0;
  int64_t self_device_bytes = 0;
  bool has_wait = false;
  DurationNs wait_ns = 0;
};

// Whether event a comes before event b: earlier, then longer, then smaller
// index.
inline bool Before(const model::Trace& trace, model::EventIndex a,
                   model::EventIndex b) {
  if (trace.start()[a] != trace.start()[b]) {
    return trace.start()[a] < trace.start()[b];
  }
  if (trace.end()[a] != trace.end()[b]) return trace.end()[a] > trace.end()[b];
  return a < b;
}

inline int64_t At(std::span<const int64_t> column, size_t event) {
  return column.empty() ? 0 : column[event];
}

inline void Merge(const model::Trace& trace, const Sums& from, Sums& into) {
  into.count += from.count;
  into.total_ns += from.total_ns;
  into.self_ns += from.self_ns;
  into.min_ns = std::min(into.min_ns, from.min_ns);
  into.max_ns = std::max(into.max_ns, from.max_ns);
  if (from.first_event == model::kNoEvent) return;
  if (into.first_event == model::kNoEvent ||
      Before(trace, from.first_event, into.first_event)) {
    into.first_event = from.first_event;
  }
}

inline void Merge(const ExtraSums& from, ExtraSums& into) {
  into.flops += from.flops;
  into.cpu_bytes += from.cpu_bytes;
  into.self_cpu_bytes += from.self_cpu_bytes;
  into.device_bytes += from.device_bytes;
  into.self_device_bytes += from.self_device_bytes;
  into.has_wait |= from.has_wait;
  into.wait_ns += from.wait_ns;
}

// The data that all workers share.
struct AveragesJob {
  const model::Trace& trace;
  const KeyAveragesOptions& options;
  const GroupKeys& keys;
  std::span<const uint8_t> is_duplicate;  // one entry per event, or empty

  bool has_extras() const {
    return !options.flops.empty() || !options.cpu_memory_bytes.empty() ||
           !options.device_memory_bytes.empty() || !options.wait_ns.empty();
  }
};

// Finds groups by name key alone. Name keys are dense.
class NameGroups {
 public:
  explicit NameGroups(const GroupKeys& keys)
      : keys_(keys), group_of_(keys.name_key_count(), kNoGroup) {}

  // The number of the event's group. For a new group it is kNoGroup, which the
  // caller then replaces.
  uint32_t& Find(size_t event, uint32_t device_bit) {
    return group_of_[keys_.NameKeyOf(event, device_bit)];
  }

 private:
  const GroupKeys& keys_;
  std::vector<uint32_t> group_of_;
};

// Finds groups by whole key: a hash table with open addressing.
class DetailGroups {
 public:
  explicit DetailGroups(const GroupKeys& keys) : keys_(keys), slots_(1024) {}

  uint32_t& Find(size_t event, uint32_t device_bit) {
    Slot& slot = Probe(keys_.KeyOf(event, device_bit));
    if (slot.group != kNoGroup) [[likely]]
      return slot.group;
    if (2 * ++used_ < slots_.size()) return slot.group;
    Grow();
    return Probe(keys_.KeyOf(event, device_bit)).group;
  }

 private:
  struct Slot {
    GroupKey key;
    uint32_t group = kNoGroup;
  };

  // The key's slot. A new key takes a free slot.
  Slot& Probe(const GroupKey& key) {
    const size_t mask = slots_.size() - 1;
    size_t at = GroupKeyHash()(key) & mask;
    while (slots_[at].group != kNoGroup && slots_[at].key != key) {
      at = (at + 1) & mask;
    }
    slots_[at].key = key;
    return slots_[at];
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.group != kNoGroup) Probe(slot.key).group = slot.group;
    }
  }

  const GroupKeys& keys_;
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

// The groups that one worker has seen, numbered by that worker.
template <typename Groups>
class AveragesWorker {
 public:
  explicit AveragesWorker(const AveragesJob& job)
      : job_(job), groups_(job.keys), group_of_row_(kRowsAtOnce) {}

  // REQUIRES: no more than kRowsAtOnce events.
  void Add(size_t first, size_t last) {
    const model::Trace& trace = job_.trace;
    for (size_t begin = first; begin < last;) {
      const model::TrackIndex track = trace.track()[begin];
      const size_t end = std::min<size_t>(last, trace.track_end(track));
      const bool on_device =
          trace.tracks()[track].kind == model::TrackKind::kStream;
      AddTrack(first, begin, end, on_device ? kDeviceBit : 0);
      begin = end;
    }
  }

  // Each is indexed by group.
  const std::vector<GroupKey>& group_keys() const { return group_keys_; }
  const std::vector<Sums>& sums() const { return sums_; }
  // Empty if the job has no extras.
  const std::vector<ExtraSums>& extras() const { return extras_; }

 private:
  // REQUIRES: all events are on one track; `first` is where Add began.
  void AddTrack(size_t first, size_t begin, size_t end, uint32_t device_bit) {
    FindGroups(first, begin, end, device_bit);
    const bool has_duplicates = !job_.is_duplicate.empty();
    const bool has_extras = job_.has_extras();
    if (has_duplicates && has_extras) {
      AddRows<true, true>(first, begin, end, device_bit);
    } else if (has_duplicates) {
      AddRows<true, false>(first, begin, end, device_bit);
    } else if (has_extras) {
      AddRows<false, true>(first, begin, end, device_bit);
    } else {
      AddRows<false, false>(first, begin, end, device_bit);
    }
  }

  // A pass of its own: adding up waits less for memory if it knows the groups.
  void FindGroups(size_t first, size_t begin, size_t end, uint32_t device_bit) {
    const uint8_t* const flags = job_.trace.flags().data();
    uint32_t* const group_of_row = group_of_row_.data() - first;
    for (size_t i = begin; i < end; ++i) {
      if (flags[i] & model::kEventInstant) continue;
      group_of_row[i] = GroupOf(i, device_bit);
    }
  }

  template <bool kHasDuplicates, bool kHasExtras>
  void AddRows(size_t first, size_t begin, size_t end, uint32_t device_bit) {
    const TimeNs* const starts = job_.trace.start().data();
    const TimeNs* const ends = job_.trace.end().data();
    const model::EventIndex* const parents = job_.trace.parent().data();
    const uint8_t* const flags = job_.trace.flags().data();
    const uint32_t* const group_of_row = group_of_row_.data() - first;
    for (size_t i = begin; i < end; ++i) {
      if (flags[i] & (model::kEventInstant | model::kEventRepeated)) {
        if (flags[i] & model::kEventRepeated) NoteRepeated(i, device_bit);
        continue;
      }
      if (kHasDuplicates && job_.is_duplicate[i]) continue;
      const DurationNs duration = ends[i] - starts[i];
      Sums& group = sums_[group_of_row[i]];
      AddEvent(static_cast<model::EventIndex>(i), starts[i], duration, group);
      if (kHasExtras) AddExtras(i, extras_[group_of_row[i]]);
      if (flags[i] & model::kEventAsync) [[unlikely]]
        continue;
      group.self_ns += duration;
      // A child's time is not its parent's own. It is taken from the parent's
      // group at once, so nothing has to be kept per event.
      size_t p = parents[i];
      if (p == model::kNoEvent) continue;
      while (kHasDuplicates && job_.is_duplicate[p]) p = parents[p];
      const uint32_t parent =
          p >= first ? group_of_row[p] : GroupOf(p, device_bit);
      sums_[parent].self_ns -= duration;
      if (kHasExtras) TakeChild(i, extras_[parent]);
    }
  }

  // A repeated event counts in another window. Here it only tells the kind of
  // its group, since the time of its children is taken from that group.
  void NoteRepeated(size_t event, uint32_t device_bit) {
    Sums& group = sums_[GroupOf(event, device_bit)];
    if (group.first_event != model::kNoEvent) return;
    group.first_event = static_cast<model::EventIndex>(event);
    group.first_start = job_.trace.start()[event];
  }

  uint32_t GroupOf(size_t event, uint32_t device_bit) {
    uint32_t& group = groups_.Find(event, device_bit);
    if (group == kNoGroup) [[unlikely]] {
      group = static_cast<uint32_t>(sums_.size());
      sums_.emplace_back();
      if (job_.has_extras()) extras_.emplace_back();
      group_keys_.push_back(job_.keys.KeyOf(event, device_bit));
    }
    return group;
  }

  void AddEvent(model::EventIndex event, TimeNs start, DurationNs duration,
                Sums& group) {
    ++group.count;
    group.total_ns += duration;
    if (job_.trace.flags()[event] & model::kEventFolded) [[unlikely]] {
      // Each of its ranges counts with their mean.
      const uint32_t calls = model::Calls(job_.trace, event);
      group.count += calls - 1;
      duration /= calls;
    }
    group.min_ns = std::min(group.min_ns, duration);
    group.max_ns = std::max(group.max_ns, duration);
    if (start > group.first_start) [[likely]]
      return;
    if (group.first_event == model::kNoEvent ||
        Before(job_.trace, event, group.first_event)) {
      group.first_start = start;
      group.first_event = event;
    }
  }

  void AddExtras(size_t event, ExtraSums& group) {
    const KeyAveragesOptions& options = job_.options;
    const int64_t cpu_bytes = At(options.cpu_memory_bytes, event);
    const int64_t device_bytes = At(options.device_memory_bytes, event);
    group.flops += At(options.flops, event);
    group.cpu_bytes += cpu_bytes;
    group.device_bytes += device_bytes;
    if (!options.wait_ns.empty() && options.wait_ns[event] >= 0) {
      group.has_wait = true;
      group.wait_ns += options.wait_ns[event];
    }
    // As with times: an asynchronous range has no self memory.
    if (job_.trace.flags()[event] & model::kEventAsync) return;
    group.self_cpu_bytes += cpu_bytes;
    group.self_device_bytes += device_bytes;
  }

  void TakeChild(size_t child, ExtraSums& parent) {
    parent.self_cpu_bytes -= At(job_.options.cpu_memory_bytes, child);
    parent.self_device_bytes -= At(job_.options.device_memory_bytes, child);
  }

  const AveragesJob& job_;
  Groups groups_;
  std::vector<GroupKey> group_keys_;
  std::vector<Sums> sums_;
  std::vector<ExtraSums> extras_;
  std::vector<uint32_t> group_of_row_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_KEY_AVERAGES_WORKER_H_
