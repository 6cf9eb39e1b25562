#include "exporters/chrome/rows.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/lanes.h"
#include "profiler/model/thread_states.h"

namespace kymo::chrome {
namespace {

using model::Trace;
using model::Track;
using model::TrackIndex;
using model::TrackKind;

constexpr int64_t kDeviceSortIndex = 5'000'000;  // as Kineto

bool Fits(int64_t id) {
  return id >= 0 && id <= std::numeric_limits<int32_t>::max();
}

}  // namespace

Rows::Rows(const Trace& trace)
    : tracks(trace.tracks().size()),
      waits(trace.tracks().size()),
      flames(trace.tracks().size()) {
  for (const model::Process& process : trace.processes()) {
    taken_.insert(process.pid);
  }
  for (const Track& track : trace.tracks()) {
    taken_.insert({track.pid, track.id, track.device_index});
  }
  for (size_t t = 0; t < tracks.size(); ++t) {
    const TrackIndex track = static_cast<TrackIndex>(t);
    tracks[t].is_used = trace.track_begin(track) != trace.track_end(track);
  }
  for (const model::CounterSample& counter : trace.counters()) {
    tracks[counter.track].is_used = true;
  }
  for (const model::MemoryRecord& record : trace.memory()) {
    tracks[record.track].is_used = true;
  }
  if (trace.folded_memory() != nullptr) {
    for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
      for (const model::FoldedStack& stack : heap.stacks) {
        tracks[stack.track].is_used = true;
      }
    }
  }
  for (const model::StackSample& sample : trace.samples()) {
    tracks[sample.track].is_used = flames[sample.track].is_used = true;
  }
  for (const model::SampleSum& sum : trace.sample_sums()) {
    tracks[sum.track].is_used = true;
  }
  for (const model::AllocationCounts& counts : trace.allocation_counts()) {
    tracks[counts.track].is_used = true;
  }
  if (trace.thread_states() != nullptr) {
    for (const model::ThreadTimes& times : trace.thread_states()->threads) {
      tracks[times.track].is_used = true;
    }
    for (const model::Wait& wait : trace.thread_states()->waits) {
      tracks[wait.track].is_used = waits[wait.track].is_used = true;
      // Its row of waits has the beginnings of flows.
      if (wait.waker != model::kNoTrack) {
        tracks[wait.waker].is_used = waits[wait.waker].is_used = true;
      }
      if (wait.holder != model::kNoTrack) tracks[wait.holder].is_used = true;
    }
    for (const model::WaitSum& sum : trace.thread_states()->short_waits) {
      tracks[sum.track].is_used = true;
    }
  }
  AddProcesses(trace);
  AddTracks(trace);
}

int64_t Rows::PidOf(int64_t pid) const {
  const auto it = pids_.find(pid);
  return it == pids_.end() ? pid : it->second;
}

void Rows::AddProcesses(const Trace& trace) {
  std::map<int64_t, std::string> hosts;
  std::set<int32_t> devices;
  for (size_t t = 0; t < tracks.size(); ++t) {
    const Track& track = trace.tracks()[t];
    if (!tracks[t].is_used) continue;
    if (track.kind == TrackKind::kStream) {
      devices.insert(track.device_index);
    } else {
      hosts.try_emplace(track.pid);
    }
  }
  // The last name of a process is the one after its exec.
  for (const model::Process& process : trace.processes()) {
    hosts[process.pid] = trace.Name(process.name);
  }
  for (const auto& [pid, name] : hosts) {
    const int64_t id = FitPid(pid);
    processes.push_back({id, id, name, "CPU"});
  }
  const std::string name = processes.empty() ? "" : processes.front().name;
  for (const int32_t device : devices) {
    processes.push_back({device, kDeviceSortIndex + device, name,
                         absl::StrCat("GPU ", device)});
  }
}

void Rows::AddTracks(const Trace& trace) {
  uint32_t lane = 1;
  for (size_t t = 0; t < tracks.size(); ++t) {
    const Track& track = trace.tracks()[t];
    lane = t > 0 && IsLaneOf(track, trace.tracks()[t - 1]) ? lane + 1 : 1;
    if (!tracks[t].is_used) continue;
    const Row row = MakeRow(trace, static_cast<TrackIndex>(t), lane);
    tracks[t] = Finish(row);
    if (waits[t].is_used) waits[t] = BesideThread(row, " waits");
    if (flames[t].is_used) flames[t] = BesideThread(row, " samples");
  }
}

Row Rows::BesideThread(Row row, const char* what) {
  row.tid = NewId();
  row.name += what;
  return Finish(std::move(row));
}

Row Rows::MakeRow(const Trace& trace, TrackIndex index, uint32_t lane) {
  const Track& track = trace.tracks()[index];
  Row row;
  row.is_used = true;
  row.tid = lane == 1 && HasUsualId(track) ? track.id : NewId();
  if (track.kind == TrackKind::kThread) {
    row.pid = FitPid(track.pid);
    row.name = absl::StrCat("thread ", track.id, " (",
                            ToAbsl(trace.Name(track.name)), ")");
  } else {
    row.pid = track.device_index;
    // The blank at the end is Kineto's.
    row.name = absl::StrCat("stream ", track.id, " ");
    if (row.tid != track.id && lane == 1 && track.id != 0) {
      absl::StrAppend(&row.name, "of process ", track.pid, " ");
    }
  }
  if (lane > 1) absl::StrAppend(&row.name, " (lane ", lane, ")");
  return row;
}

bool Rows::HasUsualId(const Track& track) {
  if (!Fits(track.id)) return false;
  if (track.kind == TrackKind::kThread) return true;
  return track.id != 0 &&
         streams_.insert({track.device_index, track.id}).second;
}

Row Rows::Finish(Row row) {
  row.sort_index = next_sort_index_++;
  row.ids =
      absl::StrCat(",\"pid\":", row.pid, ",\"tid\":", row.tid, ",\"ts\":");
  return row;
}

int64_t Rows::FitPid(int64_t pid) {
  if (Fits(pid)) return pid;
  const auto [it, is_new] = pids_.try_emplace(pid, 0);
  if (is_new) it->second = NewId();
  return it->second;
}

int64_t Rows::NewId() {
  while (!taken_.insert(next_id_).second) ++next_id_;
  return next_id_;
}

}  // namespace kymo::chrome
