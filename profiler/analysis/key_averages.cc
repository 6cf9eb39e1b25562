#include "profiler/analysis/key_averages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/analysis/duplicates.h"
#include "profiler/base/parallel.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/string_table.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::NameId;
using model::Trace;
using model::TrackIndex;

constexpr uint32_t kNoGroup = ~uint32_t{0};
constexpr size_t kMinGrain = size_t{64} << 10;

// What tells groups of one name apart.
constexpr uint32_t kAnnotationBit = 1;
constexpr uint32_t kDeviceBit = 2;
constexpr uint32_t kFrameBit = 4;
constexpr uint32_t kKinds = 8;

constexpr bool IsAnnotation(ActivityType type) {
  return type == ActivityType::kUserAnnotation ||
         type == ActivityType::kGpuUserAnnotation;
}

// Key of an event: its name and kind as one dense number.
inline uint32_t KeyOf(NameId name, ActivityType type, uint32_t device_bit) {
  return Index(name) * kKinds + (IsAnnotation(type) ? kAnnotationBit : 0) +
         (type == ActivityType::kPythonFunction ? kFrameBit : 0) + device_bit;
}

// What one worker adds up for a group.
struct Sums {
  int64_t count = 0;
  DurationNs total_ns = 0;
  DurationNs self_ns = 0;
  DurationNs min_ns = std::numeric_limits<DurationNs>::max();
  DurationNs max_ns = std::numeric_limits<DurationNs>::min();
  TimeNs first_start = std::numeric_limits<TimeNs>::max();
  EventIndex first_event = model::kNoEvent;
};

// Whether event a comes before b: earlier, longer, smaller index.
bool Before(const Trace& trace, EventIndex a, EventIndex b) {
  if (trace.start()[a] != trace.start()[b]) {
    return trace.start()[a] < trace.start()[b];
  }
  if (trace.end()[a] != trace.end()[b]) return trace.end()[a] > trace.end()[b];
  return a < b;
}

// Calls body(begin, end, device_bit) for the part of each track that lies in
// [first, last).
template <typename Body>
void ForTrackParts(const Trace& trace, size_t first, size_t last,
                   const Body& body) {
  while (first < last) {
    const TrackIndex track = trace.track()[first];
    const size_t end = std::min<size_t>(last, trace.track_end(track));
    body(first, end,
         trace.tracks()[track].kind == model::TrackKind::kStream ? kDeviceBit
                                                                 : 0);
    first = end;
  }
}

// The dense numbers of the keys that occur, by key.
class Groups {
 public:
  explicit Groups(const Trace& trace)
      : group_of_key_(trace.strings().size() * kKinds, kNoGroup) {
    const std::vector<uint8_t> used = UsedKeys(trace);
    std::array<uint32_t, kKinds> step_group;
    step_group.fill(kNoGroup);
    for (uint32_t key = 0; key < used.size(); ++key) {
      if (!used[key]) continue;
      const std::string_view name = trace.Name(NameId{key / kKinds});
      if (!name.starts_with("ProfilerStep#")) {
        group_of_key_[key] = Add(key, name);
        continue;
      }
      uint32_t& group = step_group[key % kKinds];
      if (group == kNoGroup) group = Add(key, "ProfilerStep*");
      group_of_key_[key] = group;
    }
  }

  uint32_t operator[](uint32_t key) const { return group_of_key_[key]; }
  size_t size() const { return averages_.size(); }
  // Names and kinds, nothing added up yet; in the order of the numbers.
  std::vector<KeyAverage> TakeAverages() { return std::move(averages_); }

 private:
  static std::vector<uint8_t> UsedKeys(const Trace& trace) {
    std::vector<uint8_t> used(trace.strings().size() * kKinds, 0);
    ParallelFor(trace.event_count(), kMinGrain, [&](size_t first, size_t last) {
      ForTrackParts(
          trace, first, last, [&](size_t i, size_t end, uint32_t device_bit) {
            for (; i < end; ++i) {
              if (trace.flags()[i] & model::kEventInstant) continue;
              // Several workers may store the same 1; most find it there.
              std::atomic_ref<uint8_t> mark(
                  used[KeyOf(trace.name()[i], trace.type()[i], device_bit)]);
              if (mark.load(std::memory_order_relaxed) == 0) {
                mark.store(1, std::memory_order_relaxed);
              }
            }
          });
    });
    return used;
  }

  uint32_t Add(uint32_t key, std::string_view name) {
    KeyAverage& average = averages_.emplace_back();
    average.name = name;
    average.is_user_annotation = (key & kAnnotationBit) != 0;
    average.is_device = (key & kDeviceBit) != 0;
    average.is_python_function = (key & kFrameBit) != 0;
    return static_cast<uint32_t>(averages_.size() - 1);
  }

  std::vector<uint32_t> group_of_key_;
  std::vector<KeyAverage> averages_;
};

// `is_duplicate` has an entry per event, or none at all.
void AddRange(const Trace& trace, const Groups& groups,
              std::span<const uint8_t> is_duplicate, size_t first, size_t last,
              uint32_t device_bit, std::vector<Sums>& sums) {
  const auto start = trace.start();
  const auto end = trace.end();
  const auto name = trace.name();
  const auto type = trace.type();
  const auto parent = trace.parent();
  const auto flags = trace.flags();
  for (size_t i = first; i < last; ++i) {
    if (flags[i] & model::kEventInstant) continue;
    if (!is_duplicate.empty() && is_duplicate[i]) continue;
    const DurationNs duration = end[i] - start[i];
    Sums& group = sums[groups[KeyOf(name[i], type[i], device_bit)]];
    ++group.count;
    group.total_ns += duration;
    group.min_ns = std::min(group.min_ns, duration);
    group.max_ns = std::max(group.max_ns, duration);
    if (start[i] <= group.first_start) [[unlikely]] {
      const EventIndex event = static_cast<EventIndex>(i);
      if (group.first_event == model::kNoEvent ||
          Before(trace, event, group.first_event)) {
        group.first_start = start[i];
        group.first_event = event;
      }
    }
    if (flags[i] & model::kEventAsync) [[unlikely]]
      continue;
    group.self_ns += duration;
    // A child's time is not its parent's own: taken from the parent's group
    // at once, no self time per event is needed.
    EventIndex p = parent[i];
    if (p == model::kNoEvent) continue;
    while (!is_duplicate.empty() && is_duplicate[p]) p = parent[p];
    sums[groups[KeyOf(name[p], type[p], device_bit)]].self_ns -= duration;
  }
}

void Merge(const Trace& trace, const Sums& from, Sums& into) {
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

std::vector<Sums> AddUp(const Trace& trace, const Groups& groups,
                        std::span<const uint8_t> is_duplicate) {
  const size_t n = trace.event_count();
  // With many groups, longer ranges: merging must stay cheaper than adding.
  const size_t grain = std::max(kMinGrain, 4 * groups.size());
  std::vector<std::vector<Sums>> parts(ParallelRangeCount(n, grain));
  ParallelFor(n, grain, [&](size_t first, size_t last) {
    std::vector<Sums> sums(groups.size());
    ForTrackParts(
        trace, first, last, [&](size_t begin, size_t end, uint32_t device_bit) {
          AddRange(trace, groups, is_duplicate, begin, end, device_bit, sums);
        });
    parts[first / grain] = std::move(sums);
  });
  std::vector<Sums> all(groups.size());
  for (const std::vector<Sums>& part : parts) {
    for (size_t g = 0; g < all.size(); ++g) Merge(trace, part[g], all[g]);
  }
  return all;
}

void Fill(const Trace& trace, const Sums& sums, KeyAverage& average) {
  average.count = sums.count;
  average.min_ns = sums.min_ns;
  average.max_ns = sums.max_ns;
  average.first_event = sums.first_event;
  average.is_async =
      (trace.flags()[sums.first_event] & model::kEventAsync) != 0;
  if (average.is_device) {
    // As PyTorch: all of a device event's time is its own.
    average.device_time_total_ns = sums.total_ns;
    average.self_device_time_total_ns = sums.total_ns;
  } else {
    average.cpu_time_total_ns = sums.total_ns;
    average.self_cpu_time_total_ns = sums.self_ns;
  }
}

}  // namespace

std::vector<KeyAverage> KeyAverages(const Trace& trace, Duplicates duplicates) {
  std::vector<uint8_t> is_duplicate;
  if (duplicates == Duplicates::kMerge) is_duplicate = DuplicateRanges(trace);
  Groups groups(trace);
  const std::vector<Sums> sums = AddUp(trace, groups, is_duplicate);
  std::vector<KeyAverage> averages = groups.TakeAverages();
  for (size_t g = 0; g < averages.size(); ++g) {
    if (sums[g].count > 0) Fill(trace, sums[g], averages[g]);
  }
  // Groups of nothing but duplicates; and frames, as PyTorch.
  std::erase_if(averages, [](const KeyAverage& a) {
    return a.count == 0 || a.is_python_function;
  });
  std::sort(averages.begin(), averages.end(),
            [&](const KeyAverage& a, const KeyAverage& b) {
              return Before(trace, a.first_event, b.first_event);
            });
  return averages;
}

}  // namespace kymo::analysis
