// lanes.h - the events of one track, nested.
//
// Input: the sources of one track, each in start order. Output: one lane or
// more, each properly nested, with parents as rows of the lane. Lane 0 holds
// everything that nests. Further lanes hold asynchronous ranges, and ranges
// that reach over the end of the range around them.
#ifndef KYMO_PROFILER_NORMALIZE_LANES_H_
#define KYMO_PROFILER_NORMALIZE_LANES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/trace_shard.h"

namespace kymo::normalize {

// A source's events on the track, and how its ids map to the trace's. The views
// have equal lengths, except that depth and detail may be empty (EventColumns).
struct TrackSource {
  // Rows [begin, end) of `columns`.
  TrackSource(const model::EventColumns& columns, size_t begin, size_t end,
              const std::vector<model::NameId>& names,
              model::DetailIndex first_detail);

  size_t size() const noexcept { return start_ns.size(); }

  std::span<const TimeNs> start_ns;
  std::span<const TimeNs> end_ns;
  std::span<const model::NameId> name;
  std::span<const model::ActivityType> type;
  std::span<const model::RecordScope> scope;
  std::span<const uint8_t> flags;
  std::span<const uint32_t> depth;
  std::span<const model::DetailIndex> detail;

  const std::vector<model::NameId>* names = nullptr;  // by the shard's id
  model::DetailIndex first_detail = 0;                // added to its details
};

struct Window {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  // Where the thread of this track ended, or its process. Open ranges end
  // there. 0: not known.
  TimeNs thread_end_ns = 0;
  // Where its process ended. Ranges that another thread may end (kEventAsync)
  // end there.
  TimeNs process_end_ns = 0;
  // For the stream of a device: its events (nodes of a graph, waits of several
  // threads) may overlap, and that is no loss.
  bool may_overlap = false;
};

struct Lane {
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<model::NameId> name;
  std::vector<model::EventIndex> parent;  // row in this lane, or kNoEvent
  std::vector<model::DetailIndex> detail;
  std::vector<model::ActivityType> type;
  std::vector<model::RecordScope> scope;
  std::vector<uint8_t> flags;

  size_t size() const noexcept { return start.size(); }
};

// Returns at least one lane. Adds to `ledger` what it had to drop or to change.
std::vector<Lane> NestTrack(const std::vector<TrackSource>& sources,
                            const Window& window, model::LossLedger& ledger);

}  // namespace kymo::normalize

#endif  // KYMO_PROFILER_NORMALIZE_LANES_H_
