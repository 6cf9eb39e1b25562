// normalize.h - shards in, one Trace out.
//
// - Equal names become one; so do processes of one pid, and tracks of one (pid,
//   kind, id). A process or track that only one shard describes keeps that
//   description.
// - A track keeps the nesting that its source recorded as depth, if all its
//   events are from one source. Where several sources share a track, or a
//   source knows no depth, the times decide. A range may then reach over the
//   end of the range around it: it moves to a lane of its own (a track with the
//   same ids). On a thread it is counted as kRangesOverlapping.
// - On request, an annotation also appears on the streams that its work ran on
//   (device_annotations.h).
// - Open ranges end with their nearest closed ancestor, else with the window,
//   and carry kEventOpen.
// - Events outside of [start_ns, end_ns] are dropped and counted. An end before
//   its start becomes the start and is counted.
//
// The result does not depend on the number of threads. The order of the shards
// changes only ids.
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
  // For recordings. Imported traces keep the annotations that they have.
  bool project_annotations = false;
};

// Consumes the shards. kResourceExhausted when memory runs out.
absl::StatusOr<model::Trace> Normalize(std::vector<model::TraceShard> shards,
                                       const NormalizeOptions& options);

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_NORMALIZE_H_
