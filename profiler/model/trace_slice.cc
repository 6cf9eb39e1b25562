#include "profiler/model/trace_slice.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "profiler/model/thread_states.h"

namespace kymo::model {
namespace {

// Copies the part of a trace that a subclass chooses.
class Copier {
 public:
  explicit Copier(const Trace& trace)
      : from_(trace.data()),
        keep_(from_.start.size()),
        keep_sums_(from_.tracks.size(), true) {}
  virtual ~Copier() = default;

 protected:
  // REQUIRES: the subclass has filled `keep_`.
  TraceData Copy() {
    CopyWhole();
    CopyEvents();
    CopyRecords(from_.counters, to_.counters);
    CopyRecords(from_.samples, to_.samples);
    for (const SampleSum& sum : from_.sample_sums) {
      if (KeepsRecord(sum.track, from_.start_ns)) {
        to_.sample_sums.push_back(sum);
      }
    }
    CopyMemory();
    CopyThreadStates();
    return std::move(to_);
  }

  virtual bool KeepsRecord(TrackIndex track, TimeNs time_ns) const = 0;

  const TraceData& from_;
  TraceData to_;
  std::vector<bool> keep_;       // by event
  std::vector<bool> keep_sums_;  // by track

 private:
  void CopyWhole() {
    // In the order of their ids, so that the ids stay the same.
    for (uint32_t id = 0; id < from_.strings.size(); ++id) {
      to_.strings.Intern(from_.strings.Get(NameId{id}));
    }
    to_.stacks = from_.stacks;
    to_.processes = from_.processes;
    to_.tracks = from_.tracks;
    to_.folded_memory = from_.folded_memory;
    to_.memory_sample_interval = from_.memory_sample_interval;
    CopySums(from_.allocation_counts, to_.allocation_counts);
    to_.sampling_period_ns = from_.sampling_period_ns;
    to_.metadata = from_.metadata;
    to_.ledger = from_.ledger;
  }

  void CopyEvents() {
    // The new position of each event; an event that is left out has its
    // parent's.
    std::vector<EventIndex> place(from_.start.size(), kNoEvent);
    for (TrackIndex t = 0; t < from_.tracks.size(); ++t) {
      for (EventIndex i = from_.track_begin[t]; i < from_.track_begin[t + 1];
           ++i) {
        const EventIndex parent =
            from_.parent[i] == kNoEvent ? kNoEvent : place[from_.parent[i]];
        place[i] = parent;
        if (!keep_[i]) continue;
        place[i] = static_cast<EventIndex>(to_.start.size());
        CopyEvent(i, parent);
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
    to_.rare_details.Set(detail, from_.rare_details.Get(detail));
    to_.details.push_back(detail);
    return static_cast<DetailIndex>(to_.details.size() - 1);
  }

  template <typename Records>
  void CopyRecords(const Records& from, Records& to) {
    for (const auto& record : from) {
      if (KeepsRecord(record.track, record.time_ns)) to.push_back(record);
    }
  }

  template <typename Sums>
  void CopySums(const Sums& from, Sums& to) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(to),
                 [this](const auto& sum) { return keep_sums_[sum.track]; });
  }

  // The sums are those of the whole recording. Where threads began and ended is
  // left out: without all of its waits, a thread would seem to be on a CPU, and
  // without all threads nobody knows who made one.
  void CopyThreadStates() {
    to_.thread_states = from_.thread_states;
    if (from_.thread_states == nullptr) return;
    const std::vector<Wait>& waits = from_.thread_states->waits;
    const auto is_kept = [this](const Wait& wait) {
      return KeepsRecord(wait.track, wait.begin_ns);
    };
    if (std::find(keep_sums_.begin(), keep_sums_.end(), false) ==
            keep_sums_.end() &&
        std::all_of(waits.begin(), waits.end(), is_kept)) {
      return;
    }
    auto kept = std::make_shared<ThreadStates>();
    kept->cpu_count = from_.thread_states->cpu_count;
    kept->cpu_limit = from_.thread_states->cpu_limit;
    kept->kymo_cpu_ns = from_.thread_states->kymo_cpu_ns;
    CopySums(from_.thread_states->threads, kept->threads);
    for (ThreadTimes& times : kept->threads) {
      times.begin_ns = times.end_ns = 0;
      times.creator = kNoTrack;
    }
    kept->min_wait_ns = from_.thread_states->min_wait_ns;
    CopySums(from_.thread_states->short_waits, kept->short_waits);
    std::copy_if(waits.begin(), waits.end(), std::back_inserter(kept->waits),
                 is_kept);
    to_.thread_states = std::move(kept);
  }

  void CopyMemory() {
    std::vector<MemoryIndex> place(from_.memory.size(), kNoMemory);
    for (MemoryIndex i = 0; i < from_.memory.size(); ++i) {
      const MemoryRecord& record = from_.memory[i];
      if (!KeepsRecord(record.track, record.time_ns)) continue;
      place[i] = static_cast<MemoryIndex>(to_.memory.size());
      to_.memory.push_back(record);
    }
    for (MemoryRecord& record : to_.memory) {
      if (record.partner != kNoMemory) record.partner = place[record.partner];
    }
  }
};

class Slicer : private Copier {
 public:
  Slicer(const Trace& trace, TimeNs begin_ns, TimeNs end_ns)
      : Copier(trace), begin_ns_(begin_ns), end_ns_(end_ns) {}

  TraceSlice Run() {
    to_.start_ns = std::clamp(from_.start_ns, begin_ns_, end_ns_);
    to_.end_ns = std::clamp(from_.end_ns, begin_ns_, end_ns_);
    size_t repeated = 0;
    for (EventIndex i = 0; i < from_.start.size(); ++i) {
      if (!IsInWindow(from_.start[i])) continue;
      keep_[i] = true;
      for (EventIndex p = from_.parent[i]; p != kNoEvent && !keep_[p];
           p = from_.parent[p]) {
        keep_[p] = true;
        if (!IsInWindow(from_.start[p])) ++repeated;
      }
    }
    return {Trace(Copy()), repeated};
  }

 private:
  bool IsInWindow(TimeNs time_ns) const {
    return time_ns >= begin_ns_ && time_ns < end_ns_;
  }
  bool KeepsRecord(TrackIndex, TimeNs time_ns) const override {
    return IsInWindow(time_ns);
  }

  const TimeNs begin_ns_;
  const TimeNs end_ns_;
};

class Selector : private Copier {
 public:
  Selector(const Trace& trace, std::span<const uint8_t> events,
           const std::vector<bool>& tracks, const RecordFilter& keeps_record)
      : Copier(trace), keeps_record_(keeps_record) {
    keep_sums_ = tracks;
    for (EventIndex i = 0; i < events.size(); ++i) keep_[i] = events[i] != 0;
  }

  Trace Run() {
    to_.start_ns = from_.start_ns;
    to_.end_ns = from_.end_ns;
    return Trace(Copy());
  }

 private:
  bool KeepsRecord(TrackIndex track, TimeNs time_ns) const override {
    return keep_sums_[track] && keeps_record_(track, time_ns);
  }

  const RecordFilter& keeps_record_;
};

}  // namespace

TraceSlice SliceTrace(const Trace& trace, TimeNs begin_ns, TimeNs end_ns) {
  return Slicer(trace, begin_ns, end_ns).Run();
}

Trace SelectEvents(const Trace& trace, std::span<const uint8_t> events,
                   const std::vector<bool>& tracks,
                   const RecordFilter& keeps_record) {
  return Selector(trace, events, tracks, keeps_record).Run();
}

}  // namespace kymo::model
