// trace_slice.h - the part of a trace within a window of time, or of choice.
//
//   TraceSlice part = SliceTrace(trace, begin_ns, end_ns);
//   part.repeated_events          // of part.trace, also in an earlier window
//
// Windows that cover all time divide a trace: every event is in the slice of
// the window in which it starts, and so is every sample, counter value and
// memory record. So that nesting stays whole, ranges around an event are
// repeated, with their own times, in its slice if they started earlier.
// Recording-wide sums (ledger, counts of allocations) and metadata are in every
// slice; a free whose allocation is in another slice has no partner.
//
// Time and memory: of a copy of the events in the window, and of all names and
// stacks, whose ids stay the same.
#ifndef KYMO_PROFILER_MODEL_TRACE_SLICE_H_
#define KYMO_PROFILER_MODEL_TRACE_SLICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::model {

struct TraceSlice {
  Trace trace;
  size_t repeated_events = 0;
};

// [begin_ns, end_ns).
TraceSlice SliceTrace(const Trace& trace, TimeNs begin_ns, TimeNs end_ns);

// Whether a sample, counter value or memory record is kept.
using RecordFilter = std::function<bool(TrackIndex track, TimeNs time_ns)>;

// The events with an entry other than 0 in `events`, which has one for each,
// below the nearest kept range around them; and the records that are kept. The
// window stays.
Trace SelectEvents(const Trace& trace, std::span<const uint8_t> events,
                   const RecordFilter& keeps_record);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_TRACE_SLICE_H_
