// memory_events.h - the memory records of a trace as events of its threads.
//
//   MemoryEvents memory(trace, ids, base, /*max_heap_records=*/1'000);
//   for (const MemoryPoint& point : memory.Of(track)) {
//     memory.Append(out, point);    // before the event `point.position`
//   }
//
// Each is a MemoryAllocation or MemoryDeallocation, from which XProf makes its
// memory profile, or an OutOfMemory. What is in use is that of the record's
// pool (memory_pool_names.h), the peak that of the whole trace. The innermost
// range around a record is its region type: as its operation (tf_op), XProf's
// statistics of operations would count each record as a call of no time.
//
// Of more records of the heap than asked for those stay that keep the extremes
// of what was in use, some thousands; all others are left out.
//
// Threads: const and safe to call concurrently.
#ifndef KYMO_EXPORTERS_TENSORBOARD_MEMORY_EVENTS_H_
#define KYMO_EXPORTERS_TENSORBOARD_MEMORY_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exporters/tensorboard/plane_ids.h"
#include "exporters/tensorboard/time_base.h"
#include "profiler/analysis/memory/live_bytes.h"
#include "profiler/analysis/memory/memory_pools.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

struct MemoryPoint {
  model::EventIndex position = 0;  // of the first event that is later
  model::MemoryIndex record = 0;
  model::NameId range = model::kEmptyName;  // the innermost one around it
};

class MemoryEvents {
 public:
  // -1: all records. Interns its texts in `ids`. Everything must outlive the
  // object.
  MemoryEvents(const model::Trace& trace, PlaneIds& ids, const TimeBase& base,
               int64_t max_heap_records);

  // In the order of time.
  std::span<const MemoryPoint> Of(model::TrackIndex track) const;
  void Append(std::string& out, const MemoryPoint& point) const;

  size_t left_out() const { return left_out_; }

 private:
  void FindPoints();
  void ThinHeap(size_t max_heap_records);
  void FindPeaks();
  int64_t InUse(model::MemoryIndex record, size_t pool) const;

  const model::Trace& trace_;
  PlaneIds& ids_;
  const TimeBase& base_;
  const analysis::MemoryPools pools_;
  const analysis::LiveBytes live_;
  std::vector<uint64_t> pool_names_;  // beside the pools: interned
  std::vector<bool> is_told_;         // the records know what is in use
  std::vector<int64_t> peaks_;
  std::vector<MemoryPoint> points_;  // by record
  std::vector<size_t> track_begin_;  // of points_, one more than tracks
  // Records that stay, ascending; none: all.
  std::optional<std::vector<model::MemoryIndex>> kept_;
  size_t left_out_ = 0;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_MEMORY_EVENTS_H_
