#include "profiler/analysis/memory/memory_usage.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "profiler/base/parallel.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::kNoEvent;
using model::MemoryRecord;
using model::TrackIndex;

// By PyTorch's numbers: CPU, MKLDNN and IDEEP are the host's memory; CUDA, HIP,
// XPU and PrivateUse1 are a device's. Memory of other kinds counts as neither.
enum class Side { kHost, kDevice, kNeither };
Side SideOf(int8_t device_type) {
  switch (device_type) {
    case 0:
    case 2:
    case 5:
      return Side::kHost;
    case 1:
    case 6:
    case 12:
    case 20:
      return Side::kDevice;
    default:
      return Side::kNeither;
  }
}

// The records of a track, which are contiguous.
std::span<const MemoryRecord> RecordsOf(const model::Trace& trace,
                                        TrackIndex track) {
  const auto [first, last] =
      std::equal_range(trace.memory().begin(), trace.memory().end(),
                       MemoryRecord{.track = track},
                       [](const MemoryRecord& a, const MemoryRecord& b) {
                         return a.track < b.track;
                       });
  return {first, last};
}

bool CanHaveChildren(const model::Trace& trace, EventIndex event) {
  return (trace.flags()[event] & (model::kEventInstant | model::kEventAsync)) ==
         0;
}

class TrackUsage {
 public:
  // `host_source` is the source by which host memory is counted.
  TrackUsage(const model::Trace& trace, TrackIndex track,
             model::MemorySource host_source, MemoryUsage& usage)
      : trace_(trace),
        track_(track),
        host_source_(host_source),
        usage_(usage) {}

  // Returns the positions of the records for which no event was open.
  std::vector<uint32_t> Run() {
    const std::span<const MemoryRecord> records = RecordsOf(trace_, track_);
    EventIndex next = trace_.track_begin(track_);
    EventIndex innermost = kNoEvent;
    for (const MemoryRecord& record : records) {
      for (; next < trace_.track_end(track_) &&
             trace_.start()[next] <= record.time_ns;
           ++next) {
        if (CanHaveChildren(trace_, next)) innermost = next;
      }
      while (innermost != kNoEvent &&
             trace_.end()[innermost] < record.time_ns) {
        innermost = trace_.parent()[innermost];
      }
      if (!Counts(record)) continue;
      if (innermost == kNoEvent) {
        unattributed_.push_back(IndexOf(record));
      } else {
        Charge(innermost, record);
      }
    }
    if (!records.empty()) AddToParents();
    return std::move(unattributed_);
  }

 private:
  model::MemoryIndex IndexOf(const MemoryRecord& record) const {
    return static_cast<model::MemoryIndex>(&record - trace_.memory().data());
  }

  bool Counts(const MemoryRecord& record) const {
    return record.event == model::MemoryEvent::kAllocation &&
           (SideOf(record.device_type) != Side::kHost ||
            record.source == host_source_);
  }

  void Charge(EventIndex event, const MemoryRecord& record) {
    const int64_t bytes = ChargedBytes(trace_, IndexOf(record));
    switch (SideOf(record.device_type)) {
      case Side::kHost:
        usage_.cpu_bytes[event] += bytes;
        break;
      case Side::kDevice:
        usage_.device_bytes[event] += bytes;
        break;
      case Side::kNeither:
        break;
    }
  }

  // From right to left, since children come after their parents.
  void AddToParents() {
    const EventIndex begin = trace_.track_begin(track_);
    for (EventIndex i = trace_.track_end(track_); i-- > begin;) {
      const EventIndex parent = trace_.parent()[i];
      if (parent == kNoEvent) continue;
      usage_.cpu_bytes[parent] += usage_.cpu_bytes[i];
      usage_.device_bytes[parent] += usage_.device_bytes[i];
    }
  }

  const model::Trace& trace_;
  const TrackIndex track_;
  const model::MemorySource host_source_;
  MemoryUsage& usage_;
  std::vector<uint32_t> unattributed_;
};

}  // namespace

int64_t ChargedBytes(const model::Trace& trace, model::MemoryIndex record) {
  const int64_t bytes = trace.memory()[record].bytes;
  const double interval = trace.memory_sample_interval();
  // Only the heap is sampled.
  if (interval == 0 ||
      trace.memory()[record].source != model::MemorySource::kHeap) {
    return bytes;
  }
  return std::llround(static_cast<double>(bytes) *
                      model::MemorySampleWeight(bytes, interval));
}

bool IsHostMemory(const model::MemoryRecord& record) {
  return SideOf(record.device_type) == Side::kHost;
}

model::MemorySource HostSource(const model::Trace& trace) {
  const bool heap =
      trace.folded_memory() != nullptr ||
      std::any_of(trace.memory().begin(), trace.memory().end(),
                  [](const auto& record) {
                    return record.source == model::MemorySource::kHeap;
                  });
  return heap ? model::MemorySource::kHeap : model::MemorySource::kReported;
}

MemoryUsage MeasureMemoryUsage(const model::Trace& trace) {
  MemoryUsage usage;
  if (trace.memory().empty()) return usage;
  usage.cpu_bytes.resize(trace.event_count());
  usage.device_bytes.resize(trace.event_count());
  const model::MemorySource host_source = HostSource(trace);
  std::vector<std::vector<uint32_t>> unattributed(trace.tracks().size());
  ParallelForEach(trace.tracks().size(), [&](size_t t) {
    unattributed[t] =
        TrackUsage(trace, static_cast<TrackIndex>(t), host_source, usage).Run();
  });
  for (const std::vector<uint32_t>& of_track : unattributed) {
    usage.unattributed.insert(usage.unattributed.end(), of_track.begin(),
                              of_track.end());
  }
  return usage;
}

}  // namespace kymo::analysis
