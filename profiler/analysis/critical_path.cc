// critical_path.cc - the graph of what waits for what, and its longest path.
//
// Long, because one class makes the graph: its nodes, and each kind of edge.
#include "profiler/analysis/critical_path.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "profiler/analysis/device/device_work.h"
#include "profiler/analysis/path_graph.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::kNoEvent;
using model::Trace;
using model::TrackIndex;
using model::TrackKind;

constexpr uint32_t kNoNode = ~uint32_t{0};
// How many pieces of work a search for the one that was waited for looks at. It
// is further away only in traces whose clocks disagree.
constexpr size_t kSearched = 1024;

// Calls that may wait for the device: the time until they return is not the
// host's work.
bool MayWait(std::string_view name) {
  for (const std::string_view waits :
       {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery",
        "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpyAsync"}) {
    if (name == waits) return true;
  }
  return false;
}

// Calls that wait for all work that was launched before.
bool WaitsForAll(std::string_view name) {
  return name == "cudaDeviceSynchronize" || name == "cudaStreamSynchronize" ||
         name == "cudaMemcpy";
}

class GraphMaker {
 public:
  GraphMaker(const Trace& trace, const Launches& launches,
             const CriticalPathOptions& options)
      : trace_(trace), launches_(launches), graph_(0) {
    const bool is_all = options.start_ns == 0 && options.end_ns == 0;
    first_ns_ = is_all ? trace.start_ns() : options.start_ns;
    last_ns_ = is_all ? trace.end_ns() : options.end_ns;
  }

  PathGraph Run() {
    FindNodes();
    graph_ = PathGraph(node_count_);
    for (TrackIndex t = 0; t < trace_.tracks().size(); ++t) {
      if (trace_.tracks()[t].kind == TrackKind::kThread) AddThread(t);
    }
    FindDependencies();
    AddDevices();
    return std::move(graph_);
  }

 private:
  // A stream of a process's device.
  using StreamKey = std::tuple<int64_t, int32_t, int64_t>;

  StreamKey StreamOf(EventIndex event) const {
    const model::Track& track = trace_.tracks()[trace_.track()[event]];
    return {track.pid, track.device_index, track.id};
  }

  // The stream that a wait is about. The row of the wait need not be the
  // stream's.
  StreamKey StreamOfWait(EventIndex sync) const {
    auto [pid, device, id] = StreamOf(sync);
    return {pid, device, id >= model::kSyncRows ? id - model::kSyncRows : id};
  }

  bool IsHostNode(EventIndex event) const {
    switch (trace_.type()[event]) {
      case ActivityType::kCpuOp:
      case ActivityType::kNvtxRange:
      case ActivityType::kCudaRuntime:
      case ActivityType::kCudaDriver:
        return model::IsRange(trace_.flags()[event]);
      default:
        return false;
    }
  }

  bool IsInside(EventIndex event) const {
    return trace_.start()[event] >= first_ns_ &&
           trace_.start()[event] <= last_ns_;
  }

  // Gives each event two nodes: its start, and behind it its end.
  void FindNodes() {
    start_node_.assign(trace_.event_count(), kNoNode);
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      const bool is_thread =
          trace_.tracks()[trace_.track()[i]].kind == TrackKind::kThread;
      const bool is_node =
          is_thread ? IsHostNode(i) : WorkKindOf(trace_, i) != WorkKind::kNone;
      if (trace_.type()[i] == ActivityType::kCudaSync) syncs_.push_back(i);
      if (!is_node) continue;
      const EventIndex call = launches_.LauncherOf(i);
      if (!IsInside(call == kNoEvent ? i : call)) continue;
      start_node_[i] = node_count_;
      node_count_ += 2;
    }
  }

  bool HasNodes(EventIndex event) const {
    return event != kNoEvent && start_node_[event] != kNoNode;
  }
  uint32_t StartOf(EventIndex event) const { return start_node_[event]; }
  uint32_t EndOf(EventIndex event) const { return start_node_[event] + 1; }

  // Adds an edge. An edge back in time is impossible and is left out.
  void Add(PathCause cause, EventIndex event, uint32_t from, TimeNs from_ns,
           uint32_t to, TimeNs to_ns, bool takes_time) {
    if (to_ns < from_ns) return;
    graph_.Add({.from = from,
                .to = to,
                .start_ns = from_ns,
                .span_ns = to_ns - from_ns,
                .event = event,
                .cause = cause,
                .takes_time = takes_time});
  }

  // A point of a thread: the start or the end of an event.
  struct Point {
    uint32_t node = kNoNode;
    TimeNs time_ns = 0;
    EventIndex event = kNoEvent;
    bool is_start = false;
  };

  // Goes depth first through the ranges of a thread.
  void AddThread(TrackIndex track) {
    std::vector<EventIndex> open;
    Point last;
    const auto leave = [&] {
      const EventIndex event = open.back();
      open.pop_back();
      Add(PathCause::kHost, event, last.node, last.time_ns, EndOf(event),
          trace_.end()[event], !MayWait(trace_.EventName(event)));
      last = {EndOf(event), trace_.end()[event], event, false};
    };
    for (EventIndex i = trace_.track_begin(track); i < trace_.track_end(track);
         ++i) {
      if (!HasNodes(i)) continue;
      EventIndex around = trace_.parent()[i];
      while (around != kNoEvent && !HasNodes(around)) {
        around = trace_.parent()[around];
      }
      while (!open.empty() && open.back() != around) leave();
      if (last.node != kNoNode) {
        Add(open.empty() ? PathCause::kDependency : PathCause::kHost,
            open.empty() ? i : open.back(), last.node, last.time_ns, StartOf(i),
            trace_.start()[i], !open.empty());
      }
      last = {StartOf(i), trace_.start()[i], i, true};
      open.push_back(i);
    }
    while (!open.empty()) leave();
  }

  std::optional<int64_t> IntArg(EventIndex event, std::string_view key) const {
    for (const model::Arg& arg : trace_.args(event)) {
      if (arg.type == model::ArgType::kInt && trace_.Name(arg.key) == key) {
        return arg.int_value();
      }
    }
    return std::nullopt;
  }

  // The last work of a stream whose call began before `time_ns`.
  EventIndex LaunchedBefore(const StreamKey& stream, TimeNs time_ns) const {
    const auto it = launched_.find(stream);
    if (it == launched_.end()) return kNoEvent;
    const auto after = std::lower_bound(
        it->second.begin(), it->second.end(), time_ns,
        [](const auto& entry, TimeNs time) { return entry.first < time; });
    return after == it->second.begin() ? kNoEvent : (after - 1)->second;
  }

  // The first work that a thread launched to a stream from `time_ns` on.
  EventIndex LaunchedAfter(const StreamKey& stream, TrackIndex thread,
                           TimeNs time_ns) const {
    const auto it = launched_.find(stream);
    if (it == launched_.end()) return kNoEvent;
    auto at = std::lower_bound(
        it->second.begin(), it->second.end(), time_ns,
        [](const auto& entry, TimeNs time) { return entry.first < time; });
    // A short search: few threads launch to one stream.
    for (size_t i = 0; i < kSearched && at != it->second.end(); ++i, ++at) {
      if (trace_.track()[launches_.LauncherOf(at->second)] == thread) {
        return at->second;
      }
    }
    return kNoEvent;
  }

  void FindDependencies() {
    devices_ = FindDevices(trace_);
    for (const Device& device : devices_) {
      for (const DeviceStream& stream : device.streams) {
        auto& list = launched_[{device.pid, device.index, stream.id}];
        for (const EventIndex work : stream.work) {
          const EventIndex call = launches_.LauncherOf(work);
          if (call != kNoEvent) {
            list.emplace_back(trace_.start()[call], work);
          }
        }
        std::sort(list.begin(), list.end());
      }
    }
    if (syncs_.empty()) return;
    absl::flat_hash_map<std::pair<int64_t, uint64_t>, EventIndex> records;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      const model::Detail* const detail = trace_.detail(i);
      if (detail == nullptr || detail->correlation_id == 0 ||
          !IsRuntimeCall(trace_.type()[i])) {
        continue;
      }
      records.try_emplace(
          {trace_.tracks()[trace_.track()[i]].pid, detail->correlation_id}, i);
    }
    for (const EventIndex sync : syncs_) AddSync(sync, records);
  }

  template <typename Records>
  void AddSync(EventIndex sync, const Records& records) {
    const EventIndex call = launches_.LauncherOf(sync);
    if (call == kNoEvent) return;
    const std::string_view name = trace_.EventName(sync);
    if (name == "Stream Wait Event" || name == "Event Sync") {
      const EventIndex before = RecordedWork(sync, records);
      if (before == kNoEvent) return;
      if (name == "Event Sync") {
        AddWait(before, call);
        return;
      }
      const EventIndex after = LaunchedAfter(
          StreamOfWait(sync), trace_.track()[call], trace_.start()[call]);
      if (after != kNoEvent) waits_for_[after] = before;
      return;
    }
    if (name != "Stream Sync" && name != "Context Sync") return;
    for (const auto& [stream, list] : launched_) {
      const bool is_meant =
          name == "Stream Sync"
              ? stream == StreamOfWait(sync)
              : std::get<0>(stream) == std::get<0>(StreamOf(sync));
      if (is_meant) AddWait(LastEnded(list, trace_.end()[call]), call);
    }
  }

  // The last work that was launched before an event was recorded: the event
  // waits for it.
  template <typename Records>
  EventIndex RecordedWork(EventIndex sync, const Records& records) const {
    const std::optional<int64_t> record =
        IntArg(sync, "wait_on_cuda_event_record_corr_id");
    const std::optional<int64_t> stream = IntArg(sync, "wait_on_stream");
    if (!record || !stream) return kNoEvent;
    auto [pid, device, id] = StreamOf(sync);
    const auto call = records.find({pid, static_cast<uint64_t>(*record)});
    if (call == records.end()) return kNoEvent;
    return LaunchedBefore({pid, device, *stream}, trace_.start()[call->second]);
  }

  // The last work of `list` that had ended at `time_ns`. `list` is by calls'
  // starts.
  EventIndex LastEnded(const std::vector<std::pair<TimeNs, EventIndex>>& list,
                       TimeNs time_ns) const {
    auto at = std::upper_bound(
        list.begin(), list.end(), time_ns,
        [](TimeNs time, const auto& entry) { return time < entry.first; });
    for (size_t i = 0; i < kSearched && at != list.begin(); ++i) {
      --at;
      if (trace_.end()[at->second] <= time_ns) return at->second;
    }
    return kNoEvent;
  }

  // Adds an edge: `call` returned only after `work` had ended.
  void AddWait(EventIndex work, EventIndex call) {
    if (!HasNodes(work) || !HasNodes(call)) return;
    Add(PathCause::kDependency, call, EndOf(work), trace_.end()[work],
        EndOf(call), trace_.end()[call], false);
  }

  void AddDevices() {
    for (const Device& device : devices_) {
      for (const DeviceStream& stream : device.streams) AddStream(stream);
    }
    if (!syncs_.empty()) return;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      if (!HasNodes(i) || !IsRuntimeCall(trace_.type()[i]) ||
          !WaitsForAll(trace_.EventName(i))) {
        continue;
      }
      const int64_t pid = trace_.tracks()[trace_.track()[i]].pid;
      for (const auto& [stream, list] : launched_) {
        if (std::get<0>(stream) == pid) {
          AddWait(LastEnded(list, trace_.end()[i]), i);
        }
      }
    }
  }

  void AddStream(const DeviceStream& stream) {
    EventIndex last = kNoEvent;
    TimeNs busy_until = first_ns_;  // work outside of the window counts too
    for (const EventIndex work : stream.work) {
      if (HasNodes(work)) {
        AddWork(work, last, busy_until);
        if (EndTime(work) >= EndTime(last)) last = work;
      }
      busy_until = std::max(busy_until, trace_.end()[work]);
    }
  }

  // `last` is the stream's previous work within the window. `busy_until` is the
  // time at which the stream had done all its previous work.
  void AddWork(EventIndex work, EventIndex last, TimeNs busy_until) {
    const TimeNs start = trace_.start()[work];
    Add(PathCause::kKernel, work, StartOf(work), start, EndOf(work),
        trace_.end()[work], true);
    const EventIndex call = launches_.LauncherOf(work);
    const auto wait = waits_for_.find(work);
    // A wait that ended later did not hold the work back.
    const EventIndex before = wait != waits_for_.end() &&
                                      HasNodes(wait->second) &&
                                      trace_.end()[wait->second] <= start
                                  ? wait->second
                                  : kNoEvent;
    if (before != kNoEvent) {
      Add(PathCause::kDependency, work, EndOf(before), trace_.end()[before],
          StartOf(work), start, false);
    }
    const bool overlaps = last != kNoEvent && trace_.end()[last] > start;
    const TimeNs free_ns =
        std::max(overlaps ? trace_.start()[last] : busy_until, EndTime(before));
    if (HasNodes(call) && trace_.start()[call] >= free_ns) {
      Add(PathCause::kLaunch, call, StartOf(call), trace_.start()[call],
          StartOf(work), start, true);
    } else if (overlaps) {
      // Its end came too late for this work; its beginning did not.
      if (trace_.start()[last] >= EndTime(before) || before == kNoEvent) {
        Add(PathCause::kKernel, last, StartOf(last), trace_.start()[last],
            StartOf(work), start, true);
      }
    } else if (last != kNoEvent && EndTime(last) >= EndTime(before)) {
      Add(PathCause::kQueue, work, EndOf(last), trace_.end()[last],
          StartOf(work), start, true);
    }
  }

  TimeNs EndTime(EventIndex event) const {
    return event == kNoEvent ? first_ns_ : trace_.end()[event];
  }

  const Trace& trace_;
  const Launches& launches_;
  TimeNs first_ns_ = 0;
  TimeNs last_ns_ = 0;
  PathGraph graph_;
  uint32_t node_count_ = 0;
  std::vector<uint32_t> start_node_;  // by event
  std::vector<EventIndex> syncs_;
  std::vector<Device> devices_;
  // By stream: (start of its call, work), sorted.
  std::map<StreamKey, std::vector<std::pair<TimeNs, EventIndex>>> launched_;
  absl::flat_hash_map<EventIndex, EventIndex> waits_for_;
};

}  // namespace

CriticalPath FindCriticalPath(const Trace& trace, const Launches& launches,
                              const CriticalPathOptions& options) {
  const PathGraph graph = GraphMaker(trace, launches, options).Run();
  CriticalPath path;
  for (const size_t index : graph.LongestPath()) {
    const PathEdge& edge = graph.edge(index);
    path.length_ns += edge.weight_ns();
    path.steps.push_back({.cause = edge.cause,
                          .event = edge.event,
                          .start_ns = edge.start_ns,
                          .end_ns = edge.start_ns + edge.span_ns,
                          .weight_ns = edge.weight_ns()});
  }
  return path;
}

}  // namespace kymo::analysis
