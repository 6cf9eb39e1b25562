#include "importers/chrome/thread_ids.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace kymo::chrome_import {
namespace {

using model::kNoTrack;
using model::TrackIndex;

class ThreadIdFinder {
 public:
  ThreadIdFinder(const std::vector<TrackIndex>& track_of_row,
                 model::TraceShard& shard)
      : track_of_row_(track_of_row),
        shard_(shard),
        rows_of_track_(shard.tracks.size()) {
    size_t begin = 0;
    for (const model::EventBlock::Part& part : shard.block.parts) {
      rows_of_track_[part.track] = {begin, part.end};
      begin = part.end;
    }
  }

  void Run(const std::vector<FlowEnd>& flows) {
    UseFlows(flows);
    UseOnlyThreads();
    NumberTheOthers();
  }

 private:
  void UseFlows(const std::vector<FlowEnd>& flows) {
    absl::flat_hash_map<uint32_t, TrackIndex> forward;  // by flow
    for (const FlowEnd& flow : flows) {
      if (flow.is_start) {
        forward.try_emplace(Index(flow.id), track_of_row_[flow.row]);
      }
    }
    for (const FlowEnd& flow : flows) {
      if (flow.is_start) continue;
      const auto it = forward.find(Index(flow.id));
      if (it == forward.end() || it->second == kNoTrack) continue;
      model::Track& track = shard_.tracks[it->second];
      if (track.logical_id == 0) {
        track.logical_id = ForwardThread(track_of_row_[flow.row], flow.time);
      }
    }
  }

  // The forward thread of an operation that begins on the track at that time; 0
  // if there is none.
  uint64_t ForwardThread(TrackIndex track, TimeNs time) const {
    const model::EventBlock& events = shard_.block;
    if (track == kNoTrack || events.detail.empty()) return 0;
    const auto [first, last] = rows_of_track_[track];
    const auto at = [&](size_t row) {
      return events.start_ns.begin() + static_cast<ptrdiff_t>(row);
    };
    const auto begin = std::lower_bound(at(first), at(last), time);
    for (auto it = begin; it != at(last) && *it == time; ++it) {
      const auto i = static_cast<size_t>(it - at(0));
      if (events.detail[i] == model::kNoDetail) continue;
      const uint64_t id = ForwardThreadOf(events.detail[i]);
      if (id != 0) return id;
    }
    return 0;
  }

  uint64_t ForwardThreadOf(model::DetailIndex detail) const {
    return shard_.rare_details.Get(shard_.details[detail]).forward_thread;
  }

  void UseOnlyThreads() {
    struct Process {
      std::set<TrackIndex> forward;
      std::set<uint64_t> ids;
    };
    std::map<int64_t, Process> processes;
    const auto& column = shard_.block.detail;
    // Without any forward thread, there is nothing to find.
    if (column.empty() || shard_.rare_details.empty()) return;
    for (TrackIndex track = 0; track < rows_of_track_.size(); ++track) {
      Process& process = processes[shard_.tracks[track].pid];
      const auto [first, last] = rows_of_track_[track];
      for (size_t row = first; row < last; ++row) {
        const model::DetailIndex d = column[row];
        if (d == model::kNoDetail || shard_.details[d].sequence_nr < 0) {
          continue;
        }
        const uint64_t id = ForwardThreadOf(d);
        if (id != 0) {
          process.ids.insert(id);
        } else {
          process.forward.insert(track);
        }
      }
    }
    for (const auto& [pid, process] : processes) {
      if (process.forward.size() != 1 || process.ids.size() != 1) continue;
      model::Track& track = shard_.tracks[*process.forward.begin()];
      if (track.logical_id == 0) track.logical_id = *process.ids.begin();
    }
  }

  void NumberTheOthers() {
    std::map<int64_t, std::set<uint64_t>> taken;  // by process
    for (const model::Track& track : shard_.tracks) {
      if (track.logical_id != 0) taken[track.pid].insert(track.logical_id);
    }
    std::map<int64_t, uint64_t> next;
    for (model::Track& track : shard_.tracks) {
      const auto it = taken.find(track.pid);
      if (it == taken.end() || track.logical_id != 0 ||
          track.kind != model::TrackKind::kThread) {
        continue;
      }
      uint64_t& id = next[track.pid];
      do {
        ++id;
      } while (it->second.contains(id));
      track.logical_id = id;
    }
  }

  const std::vector<TrackIndex>& track_of_row_;
  model::TraceShard& shard_;
  std::vector<std::pair<size_t, size_t>> rows_of_track_;  // of the block
};

}  // namespace

void FindThreadIds(const std::vector<FlowEnd>& flows,
                   const std::vector<TrackIndex>& track_of_row,
                   model::TraceShard& shard) {
  ThreadIdFinder(track_of_row, shard).Run(flows);
}

}  // namespace kymo::chrome_import
