#include "importers/load/id_space.h"

#include <algorithm>
#include <limits>

namespace kymo {
namespace {

void Replace(const std::map<int64_t, int64_t>& changed, int64_t& pid) {
  const auto found = changed.find(pid);
  if (found != changed.end()) pid = found->second;
}

}  // namespace

std::map<int64_t, int64_t> IdSpace::TakePids(
    std::span<const model::TraceShard> shards) {
  std::set<int64_t> own;
  for (const model::TraceShard& shard : shards) {
    for (const model::Process& process : shard.processes) {
      own.insert(process.pid);
    }
    for (const model::Track& track : shard.tracks) own.insert(track.pid);
  }
  std::set<int64_t> taken = pids_;
  taken.insert(own.begin(), own.end());
  // Numbers above the largest one. If that is the largest there can be, from 1.
  int64_t free = std::max<int64_t>(*taken.rbegin(), 0);
  std::map<int64_t, int64_t> changed;
  for (const int64_t pid : own) {
    if (!pids_.contains(pid)) continue;
    do {
      free = free == std::numeric_limits<int64_t>::max() ? 1 : free + 1;
    } while (taken.contains(free));
    taken.insert(free);
    changed[pid] = free;
  }
  pids_ = std::move(taken);
  return changed;
}

std::map<int64_t, int64_t> IdSpace::Separate(
    std::span<model::TraceShard> shards) {
  const std::map<int64_t, int64_t> changed = TakePids(shards);
  const uint64_t before = last_logical_id_;
  for (model::TraceShard& shard : shards) {
    for (model::Process& process : shard.processes) {
      Replace(changed, process.pid);
      Replace(changed, process.parent_pid);
    }
    for (model::Track& track : shard.tracks) {
      Replace(changed, track.pid);
      if (track.logical_id == 0) continue;
      track.logical_id += before;
      last_logical_id_ = std::max(last_logical_id_, track.logical_id);
    }
    for (model::RareDetail& detail : shard.rare_details.all()) {
      if (detail.forward_thread != 0) detail.forward_thread += before;
    }
  }
  return changed;
}

}  // namespace kymo
