#include "exporters/tensorboard/xspace/memory_events.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/range_sweep.h"
#include "exporters/tensorboard/xplane.pb.h"
#include "exporters/tensorboard/xspace/memory_pool_names.h"
#include "exporters/tensorboard/xspace/stat_writer.h"
#include "profiler/analysis/memory/thinned_curve.h"

namespace kymo::tensorboard {
namespace {

using model::EventIndex;
using model::MemoryEvent;
using model::MemoryIndex;
using model::MemoryRecord;
using model::MemorySource;
using model::NameId;
using model::Trace;

constexpr size_t kThinnedPoints = 20'000;  // of a pool

// Names the innermost range around each record that stays.
class RangeFinder {
 public:
  RangeFinder(const Trace& trace, const PlaneIds& ids,
              std::vector<MemoryPoint>& points)
      : trace_(trace), ids_(ids), points_(points) {}

  void Enter(EventIndex event) { open_.push_back(event); }
  void Leave(EventIndex, DurationNs) { open_.pop_back(); }
  void Memory(MemoryIndex record) {
    if (next_ == points_.size() || points_[next_].record != record) return;
    MemoryPoint& point = points_[next_++];
    if (open_.empty()) return;
    const NameId name = trace_.name()[open_.back()];
    if (!ids_.IsStep(name)) point.range = name;
  }

 private:
  const Trace& trace_;
  const PlaneIds& ids_;
  std::vector<MemoryPoint>& points_;
  std::vector<EventIndex> open_;
  size_t next_ = 0;
};

int64_t Magnitude(int64_t bytes) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  return bytes == kLeast ? std::numeric_limits<int64_t>::max()
                         : std::abs(bytes);
}

}  // namespace

MemoryEvents::MemoryEvents(const Trace& trace, PlaneIds& ids,
                           const TimeBase& base, int64_t max_heap_records)
    : trace_(trace),
      ids_(ids),
      base_(base),
      pools_(trace),
      live_(trace, pools_),
      is_told_(pools_.size()),
      peaks_(pools_.size()),
      track_begin_(trace.tracks().size() + 1) {
  if (trace.memory().empty()) return;
  for (const std::string& name : MemoryPoolNames(pools_)) {
    pool_names_.push_back(ids.Intern(name));
  }
  FindPeaks();
  if (max_heap_records >= 0) ThinHeap(static_cast<size_t>(max_heap_records));
  FindPoints();
  RangeFinder finder(trace, ids, points_);
  SweepRanges(trace, finder);
}

void MemoryEvents::FindPeaks() {
  const auto records = trace_.memory();
  for (const MemoryRecord& record : records) {
    if (record.total_allocated != 0) is_told_[pools_.IndexOf(record)] = true;
  }
  for (MemoryIndex i = 0; i < records.size(); ++i) {
    if (records[i].event != MemoryEvent::kAllocation) continue;
    const size_t pool = pools_.IndexOf(records[i]);
    peaks_[pool] = std::max(peaks_[pool], InUse(i, pool));
  }
}

int64_t MemoryEvents::InUse(MemoryIndex record, size_t pool) const {
  return is_told_[pool] ? trace_.memory()[record].total_allocated
                        : live_.After(record);
}

void MemoryEvents::ThinHeap(size_t max_heap_records) {
  const auto records = trace_.memory();
  const auto is_heap = [&](const MemoryRecord& record) {
    return record.source == MemorySource::kHeap &&
           record.event == MemoryEvent::kAllocation;
  };
  const auto heap_records = static_cast<size_t>(
      std::count_if(records.begin(), records.end(), is_heap));
  if (heap_records <= max_heap_records) return;
  std::vector<analysis::ThinnedCurve> curves;
  for (size_t pool = 0; pool < pools_.size(); ++pool) {
    curves.emplace_back(trace_.start_ns(), trace_.end_ns(), kThinnedPoints);
  }
  std::vector<MemoryIndex>& kept = kept_.emplace();
  for (MemoryIndex i = 0; i < records.size(); ++i) {
    if (!is_heap(records[i])) {
      kept.push_back(i);
      continue;
    }
    const size_t pool = pools_.IndexOf(records[i]);
    curves[pool].Add({records[i].time_ns, i, InUse(i, pool)});
  }
  for (const analysis::ThinnedCurve& curve : curves) {
    for (const analysis::CurvePoint& point : curve.Points()) {
      kept.push_back(static_cast<MemoryIndex>(point.order));
    }
  }
  std::sort(kept.begin(), kept.end());
  left_out_ = records.size() - kept.size();
}

void MemoryEvents::FindPoints() {
  const auto records = trace_.memory();
  const auto start = trace_.start();
  const size_t count = kept_ ? kept_->size() : records.size();
  points_.reserve(count);
  model::TrackIndex track = 0;
  EventIndex position = 0;
  for (size_t i = 0; i < count; ++i) {
    const MemoryIndex record =
        kept_ ? (*kept_)[i] : static_cast<MemoryIndex>(i);
    for (; track < records[record].track; ++track) {
      track_begin_[track + 1] = points_.size();
      position = trace_.track_begin(track + 1);
    }
    // After all events that begin no later.
    const EventIndex end = trace_.track_end(track);
    position = static_cast<EventIndex>(
        std::upper_bound(start.begin() + position, start.begin() + end,
                         records[record].time_ns) -
        start.begin());
    points_.push_back({.position = position, .record = record});
  }
  for (; track < trace_.tracks().size(); ++track) {
    track_begin_[track + 1] = points_.size();
  }
}

std::span<const MemoryPoint> MemoryEvents::Of(model::TrackIndex track) const {
  return std::span(points_).subspan(
      track_begin_[track], track_begin_[track + 1] - track_begin_[track]);
}

void MemoryEvents::Append(std::string& out, const MemoryPoint& point) const {
  const MemoryRecord& record = trace_.memory()[point.record];
  const size_t pool = pools_.IndexOf(record);
  const bool failed = record.event != MemoryEvent::kAllocation;
  const OwnEvent kind = failed              ? OwnEvent::kOutOfMemory
                        : record.bytes >= 0 ? OwnEvent::kMemoryAllocation
                                            : OwnEvent::kMemoryDeallocation;
  proto::ProtoWriter writer(out);
  const size_t event = writer.Begin(schema::XLine::kEventsFieldNumber);
  writer.Uint(schema::XEvent::kMetadataIdFieldNumber, ids_.Event(kind));
  writer.Uint(schema::XEvent::kOffsetPsFieldNumber,
              base_.OffsetPs(record.time_ns));
  StatWriter stats(out, StatWriter::kOfEvent);
  const auto add = [&](StatName name, int64_t value) {
    stats.Int(ids_.Stat(name), value);
  };
  stats.Ref(ids_.Stat(StatName::kAllocatorName), ids_.Text(pool_names_[pool]));
  if (point.range != model::kEmptyName) {
    stats.Ref(ids_.Stat(StatName::kRegionType), ids_.Text(point.range));
  }
  add(StatName::kRequestedBytes, Magnitude(record.bytes));
  if (!failed) {
    add(StatName::kAllocationBytes, Magnitude(record.bytes));
    add(StatName::kBytesAllocated, InUse(point.record, pool));
    add(StatName::kBytesReserved, 0);
    add(StatName::kPeakBytesInUse, peaks_[pool]);
    add(StatName::kAddress, static_cast<int64_t>(record.address));
  }
  writer.End(event);
}

}  // namespace kymo::tensorboard
