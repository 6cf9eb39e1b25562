// normalize.cc - many shards become one trace.
//
// Long, because it has one function for each kind of record.
#include "profiler/normalize/normalize.h"

#include <algorithm>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/join_neighbours.h"
#include "profiler/model/thread_states.h"
#include "profiler/normalize/allocations.h"
#include "profiler/normalize/device_annotations.h"
#include "profiler/normalize/holder_stacks.h"
#include "profiler/normalize/lanes.h"
#include "profiler/normalize/merge_folded.h"
#include "profiler/normalize/merge_thread_states.h"
#include "profiler/normalize/place_events.h"

namespace kymo {
namespace {

using model::NameId;
using model::StackId;
using model::TraceData;
using model::TraceShard;
using model::Track;
using model::TrackIndex;
using normalize::TrackSource;
using normalize::Window;

using TrackKey = std::tuple<int64_t, model::TrackKind, int32_t, int64_t>;

TrackKey KeyOf(const Track& track) {
  return {track.pid, track.kind, track.device_index, track.id};
}

// How one shard's ids map to the trace's.
struct ShardMap {
  std::vector<NameId> names;
  std::vector<size_t> tracks;  // index in the merged, sorted list
  std::vector<StackId> stacks;
  model::DetailIndex first_detail = 0;
  uint32_t first_arg = 0;
};

class Merger {
 public:
  Merger(std::vector<TraceShard> shards, const NormalizeOptions& options)
      : shards_(std::move(shards)), maps_(shards_.size()) {
    data_.start_ns = options.start_ns;
    data_.end_ns = options.end_ns;
  }

  TraceData Run() {
    KeepSumsOnce();
    FindWindow();
    MergeNames();
    MergeProcesses();
    MergeTracks();
    MergeStacks();
    MergeDetails();
    FindSources();
    PlaceEvents();
    MergeCounters();
    MergeMemory();
    MergeAllocationCounts();
    MergeSamples();
    MergeThreads();
    MergeMetadata();
    MergeLosses();
    return std::move(data_);
  }

 private:
  // The recording that the shard is a part of; empty: it is no part.
  static std::string_view RecordingOf(const TraceShard& shard) {
    for (const model::Metadata& entry : shard.metadata) {
      if (shard.strings.Get(entry.key) == model::kRecordingKey) {
        return shard.strings.Get(entry.json_value);
      }
    }
    return {};
  }

  // Each part of a trace that was split has the sums of the whole recording.
  // The first part keeps them. Their processes may have other pids in each
  // part, so nothing else shows that the threads are the same.
  void KeepSumsOnce() {
    std::set<std::string_view> seen;
    for (TraceShard& shard : shards_) {
      const std::string_view recording = RecordingOf(shard);
      if (recording.empty() || seen.insert(recording).second) continue;
      shard.allocation_counts.clear();
      if (shard.thread_states == nullptr) continue;
      shard.thread_states->threads.clear();
      shard.thread_states->short_waits.clear();
    }
  }

  void FindWindow() {
    if (data_.start_ns != 0 || data_.end_ns != 0) return;
    TimeNs first = std::numeric_limits<TimeNs>::max();
    TimeNs last = 0;
    auto see = [&](TimeNs time_ns) {
      if (time_ns == 0) return;
      first = std::min(first, time_ns);
      last = std::max(last, time_ns);
    };
    for (const TraceShard& shard : shards_) {
      const auto see_events = [&](const model::EventColumns& events) {
        for (const TimeNs t : events.start_ns) see(t);
        for (const TimeNs t : events.end_ns) see(t);
      };
      for (const auto& events : shard.events) see_events(events);
      see_events(shard.block);
      for (const auto& sample : shard.samples) see(sample.time_ns);
      for (const auto& counter : shard.counters) see(counter.time_ns);
      if (shard.thread_states == nullptr) continue;
      for (const model::Wait& wait : shard.thread_states->waits) {
        see(wait.begin_ns);
        see(wait.end_ns());
      }
    }
    data_.start_ns = last == 0 ? 0 : first;
    data_.end_ns = last;
  }

  void MergeNames() {
    for (size_t s = 0; s < shards_.size(); ++s) {
      const model::StringTable& strings = shards_[s].strings;
      maps_[s].names.reserve(strings.size());
      for (uint32_t id = 0; id < strings.size(); ++id) {
        maps_[s].names.push_back(data_.strings.Intern(strings.Get(NameId{id})));
      }
    }
  }

  // A later description of a process (after an exec) wins, where it says more.
  void MergeProcesses() {
    std::map<int64_t, model::Process> merged;
    for (size_t s = 0; s < shards_.size(); ++s) {
      for (const model::Process& process : shards_[s].processes) {
        if (!shards_[s].memory.empty() && process.start_ns != 0) {
          replacements_[process.pid].push_back(process.start_ns);
        }
        model::Process& into = merged[process.pid];
        into.pid = process.pid;
        if (process.parent_pid != 0) into.parent_pid = process.parent_pid;
        if (process.name != model::kEmptyName) {
          into.name = maps_[s].names[Index(process.name)];
        }
        if (process.command_line != model::kEmptyName) {
          into.command_line = maps_[s].names[Index(process.command_line)];
        }
        if (process.start_ns != 0 &&
            (into.start_ns == 0 || process.start_ns < into.start_ns)) {
          into.start_ns = process.start_ns;
        }
        into.end_ns = std::max(into.end_ns, process.end_ns);
      }
    }
    for (const auto& [pid, process] : merged) {
      data_.processes.push_back(process);
    }
    for (auto& [pid, starts] : replacements_) {
      std::sort(starts.begin(), starts.end());
      // The first program replaced no other.
      starts.erase(starts.begin());
    }
  }

  void MergeTracks() {
    std::map<TrackKey, Track> merged;
    for (size_t s = 0; s < shards_.size(); ++s) {
      for (const Track& track : shards_[s].tracks) {
        const NameId name = maps_[s].names[Index(track.name)];
        Track mapped = track;
        mapped.name = name;
        Track& into = merged.try_emplace(KeyOf(track), mapped).first->second;
        // A thread that nobody named has the name of its process.
        const model::Process* const process =
            model::FindProcess(data_.processes, track.pid);
        const bool says_nothing = name == model::kEmptyName ||
                                  (into.name != model::kEmptyName &&
                                   process != nullptr && name == process->name);
        if (!says_nothing) into.name = name;
        if (track.logical_id != 0) into.logical_id = track.logical_id;
      }
    }
    std::map<TrackKey, size_t> positions;
    for (const auto& [key, track] : merged) {
      positions[key] = tracks_.size();
      tracks_.push_back(track);
    }
    sources_.resize(tracks_.size());
    thread_ends_.resize(tracks_.size());
    for (size_t s = 0; s < shards_.size(); ++s) {
      for (const Track& track : shards_[s].tracks) {
        maps_[s].tracks.push_back(positions[KeyOf(track)]);
      }
      if (shards_[s].thread_states == nullptr) continue;
      for (const auto& thread : shards_[s].thread_states->threads) {
        TimeNs& end = thread_ends_[maps_[s].tracks[thread.track]];
        end = std::max(end, thread.end_ns);
      }
    }
    AddToldEnds();
  }

  // Ends of threads whose life was not recorded. Of threads that had one number
  // one after the other, each must have ended.
  void AddToldEnds() {
    constexpr TimeNs kRuns = std::numeric_limits<TimeNs>::max();
    std::vector<TimeNs> told(tracks_.size());
    for (size_t s = 0; s < shards_.size(); ++s) {
      const std::vector<TimeNs>& ends = shards_[s].thread_ends;
      for (size_t t = 0; t < ends.size(); ++t) {
        TimeNs& end = told[maps_[s].tracks[t]];
        end = std::max(end, ends[t] == 0 ? kRuns : ends[t]);
      }
    }
    for (size_t t = 0; t < told.size(); ++t) {
      if (thread_ends_[t] == 0 && told[t] != kRuns) thread_ends_[t] = told[t];
    }
  }

  void MergeDetails() {
    for (size_t s = 0; s < shards_.size(); ++s) {
      ShardMap& map = maps_[s];
      map.first_detail = static_cast<uint32_t>(data_.details.size());
      map.first_arg = static_cast<uint32_t>(data_.args.size());
      // The trace takes the first ones over: there may be millions.
      Append(std::move(shards_[s].details), data_.details);
      Append(std::move(shards_[s].args), data_.args);
      const model::RareIndex first_rare =
          data_.rare_details.Append(shards_[s].rare_details);
      if (map.first_detail == 0 && map.first_arg == 0 && first_rare == 0 &&
          IsIdentity(map.names) && IsIdentity(map.stacks)) {
        continue;
      }
      for (size_t d = map.first_detail; d < data_.details.size(); ++d) {
        model::Detail& detail = data_.details[d];
        detail.args_begin += map.first_arg;
        detail.args_end += map.first_arg;
        detail.overload_name = map.names[Index(detail.overload_name)];
        detail.inputs = map.names[Index(detail.inputs)];
        detail.stack = map.stacks[Index(detail.stack)];
        detail.rare = model::RareDetails::Moved(detail.rare, first_rare);
      }
      for (size_t a = map.first_arg; a < data_.args.size(); ++a) {
        model::Arg& arg = data_.args[a];
        arg.key = map.names[Index(arg.key)];
        if (arg.has_text()) {
          arg.bits = Index(map.names[Index(arg.string_value())]);
        }
      }
    }
  }

  void FindSources() {
    for (size_t s = 0; s < shards_.size(); ++s) {
      const ShardMap& map = maps_[s];
      const auto add = [&](const model::EventColumns& columns, TrackIndex track,
                           size_t begin, size_t end) {
        if (begin == end) return;
        sources_[map.tracks[track]].emplace_back(columns, begin, end, map.names,
                                                 map.first_detail);
      };
      for (const model::TrackEvents& events : shards_[s].events) {
        add(events, events.track, 0, events.size());
      }
      size_t begin = 0;
      for (const model::EventBlock::Part& part : shards_[s].block.parts) {
        add(shards_[s].block, part.track, begin, part.end);
        begin = part.end;
      }
    }
  }

  TimeNs ProcessEnd(int64_t pid) const {
    const model::Process* const process =
        model::FindProcess(data_.processes, pid);
    return process != nullptr ? process->end_ns : 0;
  }

  // Of the thread, if its life was recorded, or else of its process.
  TimeNs ThreadEnd(size_t track) const {
    const TimeNs thread = thread_ends_[track];
    const TimeNs process = ProcessEnd(tracks_[track].pid);
    if (thread == 0 || process == 0) return std::max(thread, process);
    return std::min(thread, process);
  }

  Window WindowOf(size_t track) const {
    return {.start_ns = data_.start_ns,
            .end_ns = data_.end_ns,
            .thread_end_ns = ThreadEnd(track),
            .process_end_ns = ProcessEnd(tracks_[track].pid),
            .may_overlap = tracks_[track].kind == model::TrackKind::kStream};
  }

  void PlaceEvents() {
    std::vector<normalize::TrackEventsInput> inputs;
    for (size_t t = 0; t < tracks_.size(); ++t) {
      inputs.push_back({.track = tracks_[t],
                        .window = WindowOf(t),
                        .sources = std::move(sources_[t])});
    }
    first_lane_ = normalize::PlaceEvents(inputs, BlockWithTraceIds(), data_);
  }

  // Returns the block, if only one shard has one and its names already have the
  // trace's ids; else null.
  model::EventBlock* BlockWithTraceIds() {
    model::EventBlock* block = nullptr;
    for (size_t s = 0; s < shards_.size(); ++s) {
      if (shards_[s].block.size() == 0) continue;
      if (block != nullptr || !IsIdentity(maps_[s].names)) return nullptr;
      block = &shards_[s].block;
    }
    return block;
  }

  template <typename Id>
  static bool IsIdentity(const std::vector<Id>& ids) {
    for (uint32_t id = 0; id < ids.size(); ++id) {
      if (ids[id] != Id{id}) return false;
    }
    return true;
  }

  template <typename T>
  static void Append(std::vector<T> from, std::vector<T>& to) {
    if (to.empty()) {
      to = std::move(from);
    } else {
      to.insert(to.end(), from.begin(), from.end());
    }
  }

  void MergeCounters() {
    for (size_t s = 0; s < shards_.size(); ++s) {
      for (model::CounterSample counter : shards_[s].counters) {
        if (OutOfWindow(counter.time_ns)) continue;
        counter.track = first_lane_[maps_[s].tracks[counter.track]];
        counter.name = maps_[s].names[Index(counter.name)];
        data_.counters.push_back(counter);
      }
    }
    std::stable_sort(data_.counters.begin(), data_.counters.end(),
                     [](const auto& a, const auto& b) {
                       return std::tie(a.track, a.name, a.time_ns) <
                              std::tie(b.track, b.name, b.time_ns);
                     });
  }

  bool OutOfWindow(TimeNs time_ns) {
    if (time_ns >= data_.start_ns && time_ns <= data_.end_ns) return false;
    data_.ledger.Add(model::Loss::kEventsOutOfWindow, 1);
    return true;
  }

  // By a shard's tracks: the trace's.
  std::vector<TrackIndex> TraceTracks(const ShardMap& map) const {
    std::vector<TrackIndex> tracks;
    for (const size_t track : map.tracks) tracks.push_back(first_lane_[track]);
    return tracks;
  }

  void MergeThreads() {
    ThreadStatesMerger merger;
    bool has_any = false;
    for (size_t s = 0; s < shards_.size(); ++s) {
      if (shards_[s].thread_states == nullptr) continue;
      has_any = true;
      const std::vector<TrackIndex> tracks = TraceTracks(maps_[s]);
      merger.Add(*shards_[s].thread_states, {.tracks = tracks,
                                             .stacks = maps_[s].stacks,
                                             .names = maps_[s].names});
      shards_[s].thread_states = nullptr;
    }
    if (!has_any) return;
    auto states = std::make_shared<model::ThreadStates>(merger.Finish(
        {.start_ns = data_.start_ns, .end_ns = data_.end_ns}, data_.ledger));
    FindHolderStacks(data_.samples, data_, *states);
    FindBusyStacks(data_.samples, data_, *states);
    data_.thread_states = std::move(states);
  }

  void MergeMemory() {
    std::shared_ptr<model::FoldedMemory> folded;
    for (size_t s = 0; s < shards_.size(); ++s) {
      TraceShard& shard = shards_[s];
      const ShardMap& map = maps_[s];
      for (model::MemoryRecord& record : shard.memory) {
        record.track = first_lane_[map.tracks[record.track]];
        record.stack = map.stacks[Index(record.stack)];
      }
      std::erase_if(shard.memory, [this](const model::MemoryRecord& record) {
        return OutOfWindow(record.time_ns);
      });
      data_.memory_sample_interval =
          std::max(data_.memory_sample_interval, shard.memory_sample_interval);
      if (data_.memory.empty()) {
        data_.memory = std::move(shard.memory);
      } else {
        data_.memory.insert(data_.memory.end(), shard.memory.begin(),
                            shard.memory.end());
      }
      shard.memory = {};
      if (shard.folded_memory != nullptr) {
        MapFolded(TraceTracks(map), map.stacks, *shard.folded_memory);
        if (folded == nullptr) {
          folded = std::move(shard.folded_memory);
        } else {
          MergeFolded(std::move(*shard.folded_memory), *folded);
        }
      }
    }
    data_.folded_memory = std::move(folded);
    const auto by_track_and_time = [](const auto& a, const auto& b) {
      return std::tie(a.track, a.time_ns) < std::tie(b.track, b.time_ns);
    };
    if (!std::is_sorted(data_.memory.begin(), data_.memory.end(),
                        by_track_and_time)) {
      std::stable_sort(data_.memory.begin(), data_.memory.end(),
                       by_track_and_time);
    }
    BoundBytes();
    PairAllocations(data_, replacements_);
  }

  // Sizes of broken files may be any numbers. Sums of those that stay fit.
  void BoundBytes() {
    for (model::MemoryRecord& record : data_.memory) {
      // Failures are not summed.
      if (record.event == model::MemoryEvent::kOutOfMemory) continue;
      const auto bytes = static_cast<uint64_t>(record.bytes);
      if (!TakeBytes(record.bytes < 0 ? 0 - bytes : bytes)) record.bytes = 0;
    }
  }
  // False, and counted, if the sum would be too large.
  bool TakeBytes(uint64_t bytes) {
    if (bytes <= bytes_left_) {
      bytes_left_ -= bytes;
      return true;
    }
    data_.ledger.Add(model::Loss::kRecordsCorrupt, 1);
    return false;
  }

  // If several shards have the same counts of a thread, they count once: each
  // part of a trace that was split has the counts of the whole recording.
  void MergeAllocationCounts() {
    std::set<std::tuple<TrackIndex, uint64_t, uint64_t, uint64_t>> merged;
    for (size_t s = 0; s < shards_.size(); ++s) {
      std::map<TrackIndex, model::AllocationCounts> of_shard;
      for (const model::AllocationCounts& counts :
           shards_[s].allocation_counts) {
        const TrackIndex track = first_lane_[maps_[s].tracks[counts.track]];
        model::AllocationCounts& sum = of_shard[track];
        sum.track = track;
        sum.allocations += counts.allocations;
        sum.frees += counts.frees;
        sum.allocated_bytes += counts.allocated_bytes;
      }
      for (const auto& [track, sum] : of_shard) {
        merged.emplace(track, sum.allocations, sum.frees, sum.allocated_bytes);
      }
    }
    for (const auto& [track, allocations, frees, bytes] : merged) {
      data_.allocation_counts.push_back(
          {.track = track,
           .allocations = allocations,
           .frees = frees,
           .allocated_bytes = TakeBytes(bytes) ? bytes : 0});
    }
  }

  void MergeSamples() {
    for (size_t s = 0; s < shards_.size(); ++s) {
      const std::vector<StackId>& stacks = maps_[s].stacks;
      std::vector<model::StackSample>& samples = shards_[s].samples;
      std::erase_if(samples, [this](const model::StackSample& sample) {
        return OutOfWindow(sample.time_ns);
      });
      for (model::StackSample& sample : samples) {
        sample.track = first_lane_[maps_[s].tracks[sample.track]];
        sample.stack = stacks[Index(sample.stack)];
      }
      // The trace takes the first ones over: there may be millions.
      Append(std::exchange(samples, {}), data_.samples);
      for (model::SampleSum sum : shards_[s].sample_sums) {
        sum.track = first_lane_[maps_[s].tracks[sum.track]];
        sum.stack = stacks[Index(sum.stack)];
        data_.sample_sums.push_back(sum);
      }
      shards_[s].sample_sums = {};
      data_.sampling_period_ns =
          std::max(data_.sampling_period_ns, shards_[s].sampling_period_ns);
    }
    std::stable_sort(data_.samples.begin(), data_.samples.end(),
                     [](const auto& a, const auto& b) {
                       return std::tie(a.track, a.time_ns) <
                              std::tie(b.track, b.time_ns);
                     });
    JoinEqualSums();
  }

  void JoinEqualSums() {
    std::vector<model::SampleSum>& sums = data_.sample_sums;
    const auto key = [](const model::SampleSum& sum) {
      return std::pair(sum.track, sum.stack);
    };
    std::sort(sums.begin(), sums.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    model::JoinNeighbours(
        sums, key, [](const model::SampleSum& from, model::SampleSum& into) {
          into.count += from.count;
          into.weight_ns += from.weight_ns;
        });
  }

  void MergeStacks() {
    for (size_t s = 0; s < shards_.size(); ++s) {
      maps_[s].stacks = MergeShardStacks(shards_[s].stacks, maps_[s]);
    }
  }

  // The trace takes the first table over, if its names already have the trace's
  // ids: it may have millions of stacks.
  std::vector<StackId> MergeShardStacks(model::StackTable& from,
                                        const ShardMap& map) {
    if (data_.stacks.frame_count() == 0 && IsIdentity(map.names)) {
      std::vector<StackId> stacks(from.stack_count());
      for (uint32_t n = 0; n < stacks.size(); ++n) stacks[n] = StackId{n};
      data_.stacks = std::move(from);
      return stacks;
    }
    std::vector<model::FrameId> frames;
    for (uint32_t f = 0; f < from.frame_count(); ++f) {
      model::Frame frame = from.frame(model::FrameId{f});
      frame.function = map.names[Index(frame.function)];
      frame.file = map.names[Index(frame.file)];
      frame.module = map.names[Index(frame.module)];
      frames.push_back(data_.stacks.AddFrame(frame));
    }
    std::vector<StackId> stacks = {model::kEmptyStack};
    for (uint32_t n = 1; n < from.stack_count(); ++n) {
      stacks.push_back(data_.stacks.Push(stacks[Index(from.parent(StackId{n}))],
                                         frames[Index(from.leaf(StackId{n}))]));
    }
    return stacks;
  }

  // If several shards say a key, the first one wins.
  void MergeMetadata() {
    std::map<std::string_view, NameId> merged;
    for (size_t s = 0; s < shards_.size(); ++s) {
      for (const model::Metadata& entry : shards_[s].metadata) {
        merged.try_emplace(data_.strings.Get(maps_[s].names[Index(entry.key)]),
                           maps_[s].names[Index(entry.json_value)]);
      }
    }
    for (const auto& [key, value] : merged) {
      data_.metadata.push_back({*data_.strings.Find(key), value});
    }
  }

  // Each part of a trace that was split has the losses of all of it.
  void MergeLosses() {
    std::map<std::string_view, model::LossLedger> of_recordings;
    for (const TraceShard& shard : shards_) {
      const std::string_view recording = RecordingOf(shard);
      if (recording.empty()) {
        data_.ledger.Merge(shard.ledger);
      } else {
        of_recordings[recording].MergeEqual(shard.ledger);
      }
    }
    for (const auto& [recording, ledger] : of_recordings) {
      data_.ledger.Merge(ledger);
    }
  }

  std::vector<TraceShard> shards_;
  std::vector<ShardMap> maps_;       // beside shards_
  std::vector<Track> tracks_;        // merged, sorted by key; before lanes
  std::vector<TimeNs> thread_ends_;  // beside tracks_; 0: not known
  std::vector<std::vector<TrackSource>> sources_;  // beside tracks_
  std::vector<TrackIndex> first_lane_;             // beside tracks_
  ProgramReplacements replacements_;
  uint64_t bytes_left_ = uint64_t{1} << 62;
  TraceData data_;
};

}  // namespace

absl::StatusOr<model::Trace> Normalize(std::vector<TraceShard> shards,
                                       const NormalizeOptions& options) {
  try {
    if (options.project_annotations) {
      shards.push_back(normalize::ProjectAnnotations(shards));
    }
    return model::Trace(Merger(std::move(shards), options).Run());
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "not enough memory to build the trace; record for a shorter time or "
        "fewer activities");
  }
}

}  // namespace kymo
