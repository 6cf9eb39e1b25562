// trace_slice.h - the part of a trace in a window of time, or chosen by event.
//
//   TraceSlice part = SliceTrace(trace, begin_ns, end_ns);
//   part.repeated_events          // of part.trace, also in an earlier window
//
// Windows that cover all time divide a trace: every event is in the slice of
// the window in which it starts, and so is every sample, counter value, memory
// record and wait. To keep the nesting whole, a slice repeats the ranges that
// enclose its events but started earlier, with their own times. Every slice has
// the sums of the whole recording (ledger, counts of allocations, folded
// memory, thread times, short waits) and the metadata. If waits or threads are
// left out, it does not say when threads began and ended. A free whose
// allocation is in another slice has no partner. Samples that are only added up
// count as if they were of the recording's start.
//
// Cost: time and memory of a copy of the window's events and of all names and
//   stacks. Ids of names and stacks stay the same.
#ifndef KYMO_PROFILER_MODEL_TRACE_SLICE_H_
#define KYMO_PROFILER_MODEL_TRACE_SLICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

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

// Whether a sample, counter value, memory record or wait is kept.
using RecordFilter = std::function<bool(TrackIndex track, TimeNs time_ns)>;

// Keeps the events whose entry in `events` is not 0; of the tracks whose entry
// in `tracks` is true, the records that `keeps_record` accepts, and the sums:
// thread times, short waits, counts of allocations. `events` has one entry per
// event of the trace, `tracks` one per track. The parent of a kept event is the
// nearest kept range around it. The window stays the same.
Trace SelectEvents(const Trace& trace, std::span<const uint8_t> events,
                   const std::vector<bool>& tracks,
                   const RecordFilter& keeps_record);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_TRACE_SLICE_H_
