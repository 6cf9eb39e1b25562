#include "profiler/model/trace_slice.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kymo::model {
namespace {

class Slicer {
 public:
  Slicer(const Trace& trace, TimeNs begin_ns, TimeNs end_ns)
      : from_(trace.data()), begin_ns_(begin_ns), end_ns_(end_ns) {}

  TraceSlice Run() {
    CopyWhole();
    CopyEvents();
    CopyIfInWindow(from_.counters, to_.counters);
    CopyIfInWindow(from_.samples, to_.samples);
    CopyMemory();
    return {Trace(std::move(to_)), repeated_};
  }

 private:
  bool IsInWindow(TimeNs time_ns) const {
    return time_ns >= begin_ns_ && time_ns < end_ns_;
  }

  void CopyWhole() {
    to_.start_ns = std::clamp(from_.start_ns, begin_ns_, end_ns_);
    to_.end_ns = std::clamp(from_.end_ns, begin_ns_, end_ns_);
    // In the order of their ids, which therefore stay.
    for (uint32_t id = 0; id < from_.strings.size(); ++id) {
      to_.strings.Intern(from_.strings.Get(NameId{id}));
    }
    to_.stacks = from_.stacks;
    to_.processes = from_.processes;
    to_.tracks = from_.tracks;
    to_.memory_sample_interval = from_.memory_sample_interval;
    to_.allocation_counts = from_.allocation_counts;
    to_.sampling_period_ns = from_.sampling_period_ns;
    to_.metadata = from_.metadata;
    to_.ledger = from_.ledger;
  }

  void CopyEvents() {
    std::vector<bool> keep(from_.start.size());
    for (EventIndex i = 0; i < from_.start.size(); ++i) {
      if (!IsInWindow(from_.start[i])) continue;
      keep[i] = true;
      for (EventIndex p = from_.parent[i]; p != kNoEvent && !keep[p];
           p = from_.parent[p]) {
        keep[p] = true;
        if (!IsInWindow(from_.start[p])) ++repeated_;
      }
    }
    std::vector<EventIndex> place(from_.start.size(), kNoEvent);
    for (TrackIndex t = 0; t < from_.tracks.size(); ++t) {
      for (EventIndex i = from_.track_begin[t]; i < from_.track_begin[t + 1];
           ++i) {
        if (!keep[i]) continue;
        place[i] = static_cast<EventIndex>(to_.start.size());
        CopyEvent(
            i, from_.parent[i] == kNoEvent ? kNoEvent : place[from_.parent[i]]);
      }
      to_.track_begin.push_back(static_cast<EventIndex>(to_.start.size()));
    }
  }

  void CopyEvent(EventIndex i, EventIndex parent) {
    to_.start.push_back(from_.start[i]);
    to_.end.push_back(from_.end[i]);
    to_.name.push_back(from_.name[i]);
    to_.track.push_back(from_.track[i]);
    to_.parent.push_back(parent);
    to_.type.push_back(from_.type[i]);
    to_.scope.push_back(from_.scope[i]);
    to_.flags.push_back(from_.flags[i]);
    to_.detail.push_back(CopyDetail(from_.detail[i]));
    to_.start_ns = std::min(to_.start_ns, from_.start[i]);
    to_.end_ns = std::max(to_.end_ns, from_.end[i]);
  }

  DetailIndex CopyDetail(DetailIndex index) {
    if (index == kNoDetail) return kNoDetail;
    Detail detail = from_.details[index];
    const auto args = from_.args.begin();
    const uint32_t args_begin = static_cast<uint32_t>(to_.args.size());
    to_.args.insert(to_.args.end(), args + detail.args_begin,
                    args + detail.args_end);
    detail.args_begin = args_begin;
    detail.args_end = static_cast<uint32_t>(to_.args.size());
    to_.details.push_back(detail);
    return static_cast<DetailIndex>(to_.details.size() - 1);
  }

  template <typename Records>
  void CopyIfInWindow(const Records& from, Records& to) {
    for (const auto& record : from) {
      if (IsInWindow(record.time_ns)) to.push_back(record);
    }
  }

  void CopyMemory() {
    std::vector<MemoryIndex> place(from_.memory.size(), kNoMemory);
    for (MemoryIndex i = 0; i < from_.memory.size(); ++i) {
      if (!IsInWindow(from_.memory[i].time_ns)) continue;
      place[i] = static_cast<MemoryIndex>(to_.memory.size());
      to_.memory.push_back(from_.memory[i]);
    }
    for (MemoryRecord& record : to_.memory) {
      if (record.partner != kNoMemory) record.partner = place[record.partner];
    }
  }

  const TraceData& from_;
  const TimeNs begin_ns_;
  const TimeNs end_ns_;
  TraceData to_;
  size_t repeated_ = 0;
};

}  // namespace

TraceSlice SliceTrace(const Trace& trace, TimeNs begin_ns, TimeNs end_ns) {
  return Slicer(trace, begin_ns, end_ns).Run();
}

}  // namespace kymo::model
