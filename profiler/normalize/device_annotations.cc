#include "profiler/normalize/device_annotations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kymo::normalize {
namespace {

using model::ActivityType;
using model::EventColumns;
using model::TraceShard;
using model::Track;
using model::TrackKind;

struct Annotation {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  std::string_view name;
};

struct Call {
  TimeNs start_ns = 0;
  uint64_t correlation = 0;
};

// The annotations and calls of one thread.
struct Thread {
  std::vector<Annotation> annotations;
  std::vector<Call> calls;
};

struct Extent {
  TimeNs start_ns = std::numeric_limits<TimeNs>::max();
  TimeNs end_ns = std::numeric_limits<TimeNs>::min();
};

// Calls f(track, columns, begin, end) for the rows of every track.
template <typename F>
void ForEachTrack(const TraceShard& shard, const F& f) {
  for (const model::TrackEvents& events : shard.events) {
    f(shard.tracks[events.track], events, size_t{0}, events.size());
  }
  size_t begin = 0;
  for (const model::EventBlock::Part& part : shard.block.parts) {
    f(shard.tracks[part.track], shard.block, begin, part.end);
    begin = part.end;
  }
}

uint64_t CorrelationOf(const TraceShard& shard, const EventColumns& columns,
                       size_t row) {
  if (columns.detail.empty() || columns.detail[row] == model::kNoDetail) {
    return 0;
  }
  return shard.details[columns.detail[row]].correlation_id;
}

bool IsDeviceWork(ActivityType type) {
  return type == ActivityType::kConcurrentKernel ||
         type == ActivityType::kGpuMemcpy || type == ActivityType::kGpuMemset;
}

// Widens extents by 1 ns, but not into neighbours that end before or begin
// after.
class Widener {
 public:
  explicit Widener(const std::map<uint32_t, Extent>& extents) {
    for (const auto& [annotation, extent] : extents) {
      starts_.push_back(extent.start_ns);
      ends_.push_back(extent.end_ns);
    }
    std::sort(starts_.begin(), starts_.end());
    std::sort(ends_.begin(), ends_.end());
  }

  Extent operator()(const Extent& extent) const {
    Extent wide = {.start_ns = extent.start_ns - 1,
                   .end_ns = extent.end_ns + 1};
    // An extent of 0 ns must not count as its own neighbour.
    const auto next =
        std::lower_bound(starts_.begin(), starts_.end(),
                         std::max(extent.end_ns, extent.start_ns + 1));
    if (next != starts_.end()) wide.end_ns = std::min(wide.end_ns, *next);
    const auto after =
        std::upper_bound(ends_.begin(), ends_.end(),
                         std::min(extent.start_ns, extent.end_ns - 1));
    if (after != ends_.begin()) {
      const TimeNs taken = std::min(*(after - 1) + 1, extent.start_ns);
      wide.start_ns = std::max(wide.start_ns, taken);
    }
    return wide;
  }

 private:
  std::vector<TimeNs> starts_;
  std::vector<TimeNs> ends_;
};

bool NeedsProjection(std::span<const TraceShard> shards) {
  bool has_work = false;
  bool has_own = false;
  for (const TraceShard& shard : shards) {
    ForEachTrack(shard, [&](const Track& track, const EventColumns& columns,
                            size_t begin, size_t end) {
      if (track.kind != TrackKind::kStream) return;
      has_work |= begin != end;
      has_own |=
          std::find(columns.type.begin() + begin, columns.type.begin() + end,
                    ActivityType::kGpuUserAnnotation) !=
          columns.type.begin() + end;
    });
  }
  return has_work && !has_own;
}

class Projection {
 public:
  explicit Projection(std::span<const TraceShard> shards) : shards_(shards) {
    CollectThreads();
    for (auto& [key, thread] : threads_) FindOpenAt(key.first, thread);
  }

  TraceShard Run() {
    for (const TraceShard& shard : shards_) {
      ForEachTrack(shard, [&](const Track& track, const EventColumns& columns,
                              size_t begin, size_t end) {
        if (track.kind != TrackKind::kStream) return;
        for (size_t row = begin; row < end; ++row) {
          if (IsDeviceWork(columns.type[row])) {
            Widen(track, CorrelationOf(shard, columns, row),
                  columns.start_ns[row], columns.end_ns[row]);
          }
        }
      });
    }
    return Write();
  }

 private:
  using ProcessCall = std::pair<int64_t, uint64_t>;
  // pid, device, stream.
  using StreamKey = std::tuple<int64_t, int32_t, int64_t>;

  struct HashCall {
    size_t operator()(const ProcessCall& call) const {
      return static_cast<size_t>(
          (call.second ^ static_cast<uint64_t>(call.first) << 32) *
          0x9e3779b97f4a7c15u);
    }
  };

  void CollectThreads() {
    for (const TraceShard& shard : shards_) {
      ForEachTrack(shard, [&](const Track& track, const EventColumns& columns,
                              size_t begin, size_t end) {
        if (track.kind != TrackKind::kThread) return;
        Thread& thread = threads_[{track.pid, track.id}];
        for (size_t row = begin; row < end; ++row) {
          Collect(shard, columns, row, thread);
        }
      });
    }
  }

  static void Collect(const TraceShard& shard, const EventColumns& columns,
                      size_t row, Thread& thread) {
    switch (columns.type[row]) {
      case ActivityType::kUserAnnotation:
        if (!model::IsRange(columns.flags[row])) return;
        thread.annotations.push_back({columns.start_ns[row],
                                      columns.end_ns[row] == 0
                                          ? std::numeric_limits<TimeNs>::max()
                                          : columns.end_ns[row],
                                      shard.strings.Get(columns.name[row])});
        return;
      case ActivityType::kCudaRuntime:
      case ActivityType::kCudaDriver:
        thread.calls.push_back(
            {columns.start_ns[row], CorrelationOf(shard, columns, row)});
        return;
      default:
        return;
    }
  }

  // Finds which annotations were open when each call began.
  void FindOpenAt(int64_t pid, Thread& thread) {
    if (thread.annotations.empty()) return;
    const auto by_start = [](const auto& a, const auto& b) {
      return a.start_ns < b.start_ns;
    };
    std::stable_sort(thread.annotations.begin(), thread.annotations.end(),
                     by_start);
    std::stable_sort(thread.calls.begin(), thread.calls.end(), by_start);
    const uint32_t first = static_cast<uint32_t>(annotations_.size());
    annotations_.insert(annotations_.end(), thread.annotations.begin(),
                        thread.annotations.end());
    std::vector<uint32_t> open;
    size_t next = 0;
    for (const Call& call : thread.calls) {
      for (; next < thread.annotations.size() &&
             thread.annotations[next].start_ns <= call.start_ns;
           ++next) {
        open.push_back(first + static_cast<uint32_t>(next));
      }
      std::erase_if(open, [&](uint32_t annotation) {
        return annotations_[annotation].end_ns < call.start_ns;
      });
      if (open.empty() || call.correlation == 0) continue;
      open_at_[{pid, call.correlation}] = {
          static_cast<uint32_t>(open_.size()),
          static_cast<uint32_t>(open_.size() + open.size())};
      open_.insert(open_.end(), open.begin(), open.end());
    }
  }

  void Widen(const Track& track, uint64_t correlation, TimeNs start_ns,
             TimeNs end_ns) {
    const auto it = open_at_.find({track.pid, correlation});
    if (it == open_at_.end()) return;
    // A backend may say any time, and an extent is widened by 1 ns.
    constexpr TimeNs kFarthest = std::numeric_limits<TimeNs>::max() - 2;
    start_ns = std::clamp(start_ns, -kFarthest, kFarthest);
    end_ns = std::clamp(end_ns, -kFarthest, kFarthest);
    auto& extents = extents_[{track.pid, track.device_index, track.id}];
    for (uint32_t i = it->second.first; i < it->second.second; ++i) {
      Extent& extent = extents[open_[i]];
      extent.start_ns = std::min(extent.start_ns, start_ns);
      extent.end_ns = std::max(extent.end_ns, end_ns);
    }
  }

  TraceShard Write() const {
    TraceShard shard;
    for (const auto& [key, extents] : extents_) {
      model::TrackEvents& events = shard.events.emplace_back();
      events.track = static_cast<model::TrackIndex>(shard.tracks.size());
      Track& track = shard.tracks.emplace_back();
      track.kind = TrackKind::kStream;
      std::tie(track.pid, track.device_index, track.id) = key;
      const Widener widen(extents);
      std::vector<std::pair<Extent, uint32_t>> sorted;
      for (const auto& [annotation, extent] : extents) {
        sorted.emplace_back(widen(extent), annotation);
      }
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const auto& a, const auto& b) {
                         return a.first.start_ns != b.first.start_ns
                                    ? a.first.start_ns < b.first.start_ns
                                    : a.first.end_ns > b.first.end_ns;
                       });
      for (const auto& [extent, annotation] : sorted) {
        events.start_ns.push_back(extent.start_ns);
        events.end_ns.push_back(extent.end_ns);
        events.name.push_back(
            shard.strings.Intern(annotations_[annotation].name));
        events.type.push_back(ActivityType::kGpuUserAnnotation);
        events.scope.push_back(model::RecordScope::kUserScope);
        events.flags.push_back(0);
      }
    }
    return shard;
  }

  const std::span<const TraceShard> shards_;
  std::map<std::pair<int64_t, int64_t>, Thread> threads_;  // by pid, tid
  std::vector<Annotation> annotations_;
  // The annotations that were open at each call, one call after the other.
  std::vector<uint32_t> open_;
  std::unordered_map<ProcessCall, std::pair<uint32_t, uint32_t>, HashCall>
      open_at_;
  // The inner map is by annotation, in the order of threads and starts.
  std::map<StreamKey, std::map<uint32_t, Extent>> extents_;
};

}  // namespace

TraceShard ProjectAnnotations(std::span<const TraceShard> shards) {
  if (!NeedsProjection(shards)) return {};
  return Projection(shards).Run();
}

}  // namespace kymo::normalize
