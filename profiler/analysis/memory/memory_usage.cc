#include "profiler/analysis/memory/memory_usage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "profiler/analysis/open_events.h"
#include "profiler/base/parallel.h"
#include "profiler/model/folded_memory.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::FoldedChange;
using model::FoldedChangeKind;
using model::FoldedChanges;
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

// What no event of a track is charged with.
struct Rest {
  std::vector<uint32_t> records;  // positions
  int64_t folded_count = 0;
  int64_t folded_bytes = 0;
  TimeNs first_folded_ns = 0;

  void AddFolded(int64_t count, int64_t bytes, TimeNs time_ns) {
    if (folded_count == 0 || time_ns < first_folded_ns) {
      first_folded_ns = time_ns;
    }
    folded_count += count;
    folded_bytes += bytes;
  }
};

class TrackUsage {
 public:
  // `host_source` is the source by which host memory is counted. `folded` may
  // be null.
  TrackUsage(const model::Trace& trace, TrackIndex track,
             model::MemorySource host_source, const FoldedChanges* folded,
             MemoryUsage& usage)
      : trace_(trace),
        track_(track),
        host_source_(host_source),
        folded_(folded),
        usage_(usage) {}

  Rest Run() {
    ChargeRecords();
    if (folded_ != nullptr) ChargeFolded(*folded_);
    if (is_charged_) AddToParents();
    return std::move(rest_);
  }

 private:
  void ChargeRecords() {
    const std::span<const MemoryRecord> records = RecordsOf(trace_, track_);
    EventIndex next = trace_.track_begin(track_);
    EventIndex innermost = kNoEvent;
    for (const MemoryRecord& record : records) {
      for (; next < trace_.track_end(track_) &&
             trace_.start()[next] <= record.time_ns;
           ++next) {
        if (model::IsRange(trace_.flags()[next])) innermost = next;
      }
      while (innermost != kNoEvent &&
             trace_.end()[innermost] < record.time_ns) {
        innermost = trace_.parent()[innermost];
      }
      if (!Counts(record)) continue;
      if (innermost == kNoEvent) {
        rest_.records.push_back(IndexOf(record));
      } else {
        Charge(innermost, record);
        is_charged_ = true;
      }
    }
  }

  void ChargeFolded(const FoldedChanges& changes) {
    OpenEvents open(trace_, track_, std::numeric_limits<TimeNs>::min());
    changes.ForEach([&](const FoldedChange& change) {
      if (change.kind == FoldedChangeKind::kUnseen) return;
      const EventIndex event = open.InnermostAt(change.time_ns);
      if (event == kNoEvent) {
        rest_.AddFolded(1, change.bytes, change.time_ns);
      } else {
        usage_.cpu_bytes[event] += change.bytes;
        is_charged_ = true;
      }
    });
  }

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
  const FoldedChanges* const folded_;
  MemoryUsage& usage_;
  Rest rest_;
  bool is_charged_ = false;
};

// By track; null: none.
std::vector<const FoldedChanges*> FoldedByTrack(const model::Trace& trace) {
  std::vector<const FoldedChanges*> changes(trace.tracks().size());
  if (trace.folded_memory() == nullptr) return changes;
  for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
    for (const model::FoldedThread& thread : heap.threads) {
      changes[thread.track] = &thread.changes;
    }
  }
  return changes;
}

void AddRest(const Rest& rest, MemoryUsage& usage) {
  usage.unattributed.insert(usage.unattributed.end(), rest.records.begin(),
                            rest.records.end());
  if (rest.folded_count == 0) return;
  auto& folded = usage.unattributed_folded;
  folded.first_ns = folded.count == 0
                        ? rest.first_folded_ns
                        : std::min(folded.first_ns, rest.first_folded_ns);
  folded.count += rest.folded_count;
  folded.bytes += rest.folded_bytes;
}

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
  const model::FoldedMemory* const folded = trace.folded_memory();
  const bool heap =
      (folded != nullptr && !folded->heaps.empty()) ||
      std::any_of(trace.memory().begin(), trace.memory().end(),
                  [](const auto& record) {
                    return record.source == model::MemorySource::kHeap;
                  });
  return heap ? model::MemorySource::kHeap : model::MemorySource::kReported;
}

MemoryUsage MeasureMemoryUsage(const model::Trace& trace) {
  MemoryUsage usage;
  const model::FoldedMemory* const folded = trace.folded_memory();
  if (trace.memory().empty() && folded == nullptr) return usage;
  usage.cpu_bytes.resize(trace.event_count());
  usage.device_bytes.resize(trace.event_count());
  const model::MemorySource host_source = HostSource(trace);
  const std::vector<const FoldedChanges*> changes = FoldedByTrack(trace);
  std::vector<Rest> rests(trace.tracks().size());
  ParallelForEach(rests.size(), [&](size_t t) {
    rests[t] = TrackUsage(trace, static_cast<TrackIndex>(t), host_source,
                          changes[t], usage)
                   .Run();
  });
  for (const Rest& rest : rests) AddRest(rest, usage);
  if (folded == nullptr) return usage;
  for (const model::FoldedHeap& heap : folded->heaps) {
    // Without changes of threads there were no events.
    if (!heap.threads.empty()) continue;
    Rest rest;
    rest.AddFolded(heap.record_count(), heap.allocated.bytes - heap.freed.bytes,
                   heap.first_ns);
    AddRest(rest, usage);
  }
  return usage;
}

}  // namespace kymo::analysis
