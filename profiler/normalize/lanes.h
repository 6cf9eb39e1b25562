// lanes.h - the events of one track, nested.
//
// Input: the sources of one track, each in start order. Output: one lane or
// more, each properly nested, with parents as rows of the lane. Lane 0 holds
// everything that nests; asynchronous ranges and such that reach over the end
// of the range around them go to further lanes.
#ifndef KYMO_PROFILER_NORMALIZE_LANES_H_
#define KYMO_PROFILER_NORMALIZE_LANES_H_

#include <cstdint>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/trace_shard.h"

namespace kymo::normalize {

// A source's events and how its ids map to the trace's.
struct TrackSource {
  const model::TrackEvents* events = nullptr;
  const std::vector<model::NameId>* names = nullptr;  // by the shard's id
  model::DetailIndex first_detail = 0;                // added to its details
};

struct Window {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  // Where the process of this track ended; open ranges end there.
  TimeNs process_end_ns = 0;
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

// At least one lane. Adds to `ledger` what had to be dropped or bent.
std::vector<Lane> NestTrack(const std::vector<TrackSource>& sources,
                            const Window& window, model::LossLedger& ledger);

}  // namespace kymo::normalize

#endif  // KYMO_PROFILER_NORMALIZE_LANES_H_
