#include "exporters/tensorboard/call_paths.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "exporters/tensorboard/range_sweep.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/model/event_calls.h"

namespace kymo::tensorboard {
namespace {

using model::EventIndex;
using model::MemoryIndex;
using model::NameId;
using model::Trace;

constexpr size_t kMaxTracked = 100'000;

// Sees the ranges of a trace and adds them to their paths.
class PathBuilder {
 public:
  PathBuilder(const Trace& trace, const StepNames& steps,
              const NameFamilies& families)
      : trace_(trace),
        steps_(steps),
        families_(families),
        host_source_(analysis::HostSource(trace)) {}

  void Enter(EventIndex event) {
    const uint32_t parent = open_.empty() ? Root(event) : open_.back();
    open_.push_back(Child(parent, event));
  }

  void Leave(EventIndex event, DurationNs self_ns) {
    CallPath& path = paths_[open_.back()];
    const uint32_t closed = open_.back();
    open_.pop_back();
    path.count += model::Calls(trace_, event);
    path.self_ns += self_ns;
    // Others within others are within the total already.
    if (!open_.empty() && open_.back() == closed) return;
    const DurationNs duration_ns = trace_.end()[event] - trace_.start()[event];
    path.total_ns += duration_ns;
    if (open_.empty() && path.parent != kNoPath) {
      paths_[path.parent].total_ns += duration_ns;
    }
  }

  void Memory(MemoryIndex index) {
    const model::MemoryRecord& record = trace_.memory()[index];
    if (open_.empty() || record.bytes <= 0 ||
        record.event != model::MemoryEvent::kAllocation) {
      return;
    }
    const int64_t bytes = analysis::ChargedBytes(trace_, index);
    if (!analysis::IsHostMemory(record)) {
      paths_[open_.back()].device_bytes += bytes;
    } else if (record.source == host_source_) {
      paths_[open_.back()].host_bytes += bytes;
    }
  }

  std::vector<CallPath> Take() { return std::move(paths_); }

 private:
  static constexpr uint32_t kOtherName = ~uint32_t{0};

  NameId NameOf(EventIndex event) const {
    const NameId name = trace_.name()[event];
    if (steps_.Number(name).has_value()) {
      return steps_.numbers().begin()->first;
    }
    return families_.Of(name);
  }

  // The path above the outermost ranges of the event's track: that of the
  // device, or none for a thread.
  uint32_t Root(EventIndex event) {
    const model::Track& track = trace_.tracks()[trace_.track()[event]];
    if (track.kind == model::TrackKind::kThread) return kNoPath;
    const auto [it, is_new] = devices_.try_emplace(
        track.device_index, static_cast<uint32_t>(paths_.size()));
    if (is_new) {
      paths_.push_back({.device_index = track.device_index,
                        .is_device = true,
                        .first_event = event,
                        .count = 1});
    }
    return it->second;
  }

  uint32_t Child(uint32_t parent, EventIndex event) {
    const bool has_parent = parent != kNoPath;
    if (has_parent && paths_[parent].is_other) return parent;
    const uint32_t depth = has_parent ? paths_[parent].depth + 1 : 0;
    uint32_t name = Index(NameOf(event));
    if (depth >= CallPath::kMaxDepth) name = kOtherName;
    const auto found = children_.find(Key(parent, name));
    if (found != children_.end()) return found->second;
    if (children_.size() >= kMaxTracked) name = kOtherName;
    const auto [it, is_new] = children_.try_emplace(
        Key(parent, name), static_cast<uint32_t>(paths_.size()));
    if (is_new) {
      paths_.push_back(
          {.parent = parent,
           .depth = depth,
           .name = name == kOtherName ? model::kEmptyName : NameId{name},
           .device_index = has_parent ? paths_[parent].device_index : -1,
           .is_other = name == kOtherName,
           .left_out = name == kOtherName ? 1u : 0u,
           .first_event = event});
    }
    return it->second;
  }

  static uint64_t Key(uint32_t parent, uint32_t name) {
    return uint64_t{parent} << 32 | name;
  }

  const Trace& trace_;
  const StepNames& steps_;
  const NameFamilies& families_;
  const model::MemorySource host_source_;
  std::vector<CallPath> paths_;
  absl::flat_hash_map<uint64_t, uint32_t> children_;
  std::map<int32_t, uint32_t> devices_;
  std::vector<uint32_t> open_;  // into paths_, outermost first
};

// Keeps those that took the longest, and makes others of the rest.
class Pruner {
 public:
  Pruner(const std::vector<CallPath>& paths, size_t max_paths)
      : paths_(paths), to_(paths.size(), kNoPath) {
    for (const uint32_t path : Longest(max_paths)) to_[path] = 0;
  }

  std::vector<CallPath> Run() {
    for (uint32_t i = 0; i < paths_.size(); ++i) {
      if (to_[i] == kNoPath) continue;
      to_[i] = static_cast<uint32_t>(kept_.size());
      kept_.push_back(paths_[i]);
      if (paths_[i].parent != kNoPath) {
        kept_.back().parent = to_[paths_[i].parent];
      }
    }
    for (uint32_t i = 0; i < paths_.size(); ++i) {
      if (to_[i] == kNoPath) LeaveOut(i);
    }
    return std::move(kept_);
  }

 private:
  // A path takes no less than one below it and stands before it, so that with
  // a path its parents are among the longest.
  std::vector<uint32_t> Longest(size_t max_paths) const {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < paths_.size(); ++i) {
      if (!paths_[i].is_other) order.push_back(i);
    }
    if (order.size() <= max_paths) return order;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return paths_[a].total_ns > paths_[b].total_ns;
    });
    order.resize(max_paths);
    return order;
  }

  void LeaveOut(uint32_t index) {
    const CallPath& path = paths_[index];
    const bool is_top = path.parent == kNoPath;
    // Where the parent is left out too, this is part of the same other one.
    const bool has_kept_parent = is_top || to_[path.parent] != kNoPath;
    uint32_t other = 0;
    if (has_kept_parent) {
      other = Other(is_top ? kNoPath : to_[path.parent], path);
    } else {
      other = others_of_left_out_.at(path.parent);
    }
    others_of_left_out_[index] = other;
    CallPath& sums = kept_[other];
    sums.left_out += path.is_other ? path.left_out : 1;
    sums.count += path.count;
    sums.self_ns += path.self_ns;
    sums.host_bytes += path.host_bytes;
    sums.device_bytes += path.device_bytes;
    if (has_kept_parent) sums.total_ns += path.total_ns;
  }

  uint32_t Other(uint32_t parent, const CallPath& example) {
    const auto [it, is_new] =
        others_.try_emplace(parent, static_cast<uint32_t>(kept_.size()));
    if (is_new) {
      kept_.push_back({.parent = parent,
                       .depth = example.depth,
                       .device_index = example.device_index,
                       .is_other = true,
                       .first_event = example.first_event});
    }
    return it->second;
  }

  const std::vector<CallPath>& paths_;
  std::vector<uint32_t> to_;  // by path: where it is kept
  std::vector<CallPath> kept_;
  absl::flat_hash_map<uint32_t, uint32_t> others_;  // by kept parent
  absl::flat_hash_map<uint32_t, uint32_t> others_of_left_out_;
};

}  // namespace

std::vector<CallPath> FindCallPaths(const Trace& trace, const StepNames& steps,
                                    const NameFamilies& families,
                                    size_t max_paths) {
  PathBuilder builder(trace, steps, families);
  SweepRanges(trace, builder);
  const std::vector<CallPath> all = builder.Take();
  return Pruner(all, max_paths).Run();
}

}  // namespace kymo::tensorboard
