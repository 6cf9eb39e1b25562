// thin_trace.h - a part of a trace, where nothing more can be folded.
//
//   const ThinnedTrace thinned = ThinTrace(trace, 8);
//   thinned.trace, thinned.left_out    // an eighth of each kind of records
//   ThinTrace(trace, kNothing)         // no records at all
//
// Of ranges and waits the longest stay. Of marks, values of counters, memory
// records and samples every n-th stays. Waits and samples that go are added to
// the sums of their thread and stack, of which the largest stay: eight times
// the part. Processes, threads and metadata stay, and so do all tables of names
// and stacks, of which files have what they use.
//
// The result depends on nothing but the arguments. Cost: n log n.
#ifndef KYMO_EXPORTERS_TIMELINE_THIN_TRACE_H_
#define KYMO_EXPORTERS_TIMELINE_THIN_TRACE_H_

#include <cstddef>
#include <cstdint>

#include "profiler/model/trace.h"

namespace kymo::timeline {

struct ThinnedTrace {
  model::Trace trace;
  // Ranges, marks, values, samples, waits and memory records.
  uint64_t left_out = 0;
};

inline constexpr uint64_t kNothing = ~uint64_t{0};

// The part 1 / `divisor` of each kind. REQUIRES: divisor > 0.
ThinnedTrace ThinTrace(const model::Trace& trace, uint64_t divisor);

// How many records ThinTrace chooses from.
size_t RecordCount(const model::Trace& trace);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_THIN_TRACE_H_
