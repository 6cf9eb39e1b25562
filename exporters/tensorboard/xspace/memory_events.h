// memory_events.h - the memory records of a trace as events of its threads.
//
//   MemoryEvents memory(trace, ids, base, /*max_heap_records=*/1'000);
//   for (const MemoryPoint& point : memory.Of(track)) {
//     memory.Append(out, point);    // before the event `point.position`
//   }
//
// A record becomes a MemoryAllocation, a MemoryDeallocation or an OutOfMemory.
// XProf makes its memory profile from the first two. The bytes in use are those
// of the record's pool (memory_pool_names.h). The peak is that of the whole
// trace. The region type of a record is the innermost range around it. The
// range is not written as the operation (tf_op): XProf's statistics of
// operations would then count each record as a call that took no time.
//
// If the heap has more than `max_heap_records` records, only some thousand are
// kept: those with the extremes of the memory in use. left_out() says how many
// are missing.
//
// Threads: const and safe to call concurrently.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_MEMORY_EVENTS_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_MEMORY_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exporters/tensorboard/xspace/plane_ids.h"
#include "exporters/tensorboard/xspace/time_base.h"
#include "profiler/analysis/memory/live_bytes.h"
#include "profiler/analysis/memory/memory_pools.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

struct MemoryPoint {
  model::EventIndex position = 0;  // of the first later event
  model::MemoryIndex record = 0;
  model::NameId range = model::kEmptyName;  // the innermost one around it
};

class MemoryEvents {
 public:
  // `max_heap_records` of -1 keeps all records. The constructor interns texts
  // in `ids`. All three references must outlive this object.
  MemoryEvents(const model::Trace& trace, PlaneIds& ids, const TimeBase& base,
               int64_t max_heap_records);

  // The points of a track in the order of time.
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
  // By pool:
  std::vector<uint64_t> pool_names_;  // interned
  std::vector<bool> is_told_;         // records state the bytes in use
  std::vector<int64_t> peaks_;
  std::vector<MemoryPoint> points_;  // by record
  // By track, the index of its first point; one more entry for the end.
  std::vector<size_t> track_begin_;
  // The records that stay, ascending. No value: all records stay.
  std::optional<std::vector<model::MemoryIndex>> kept_;
  size_t left_out_ = 0;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_MEMORY_EVENTS_H_
