// normalize.h - shards in, one Trace out.
//
// - Names, processes, tracks: those of equal text, pid, (pid, kind, id) become
//   one. A process or track that only one shard describes keeps its words.
// - Events of one track from one source with recorded depth keep their own
//   nesting. Where several sources meet on one track, or a source knows no
//   depth, nesting comes from the times: a range that reaches over the end of
//   the range it began in is moved to a lane of its own (a track with the same
//   ids) and, on a thread, counted as kRangesOverlapping.
// - Where it is asked for, what an annotation launched on a device's stream
//   gets that annotation there, too, see device_annotations.h.
// - Open ranges end with their nearest closed ancestor, else with the window,
//   and carry kEventOpen.
// - Events outside of [start_ns, end_ns] are dropped and counted; an end before
//   its start becomes the start and is counted.
//
// The result does not depend on the number of threads, and on the order of the
// shards only as far as ids go.
#ifndef KYMO_PROFILER_NORMALIZE_NORMALIZE_H_
#define KYMO_PROFILER_NORMALIZE_NORMALIZE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_shard.h"

namespace kymo {

struct NormalizeOptions {
  // The recording's window; both 0 = from the first to the last event.
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  // Of a recording; what is imported stays as it was.
  bool project_annotations = false;
};

// Consumes the shards. kResourceExhausted when memory does not suffice.
absl::StatusOr<model::Trace> Normalize(std::vector<model::TraceShard> shards,
                                       const NormalizeOptions& options);

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_NORMALIZE_H_
