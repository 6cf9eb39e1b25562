// device_annotations.h - annotations of the program, projected onto streams.
//
//   thread   [ step                         ]
//              launch a   launch b   wait
//   stream                   [a]    [b]
//   added                   [ step     ]
//
// PyTorch's rule: for each annotation and stream one gpu_user_annotation, from
// the earliest start to the latest end of what was launched there (by a call on
// the annotation's thread) while it was open; 1 ns wider on both sides, so that
// it lies around the first and the last of them. Several annotations that are
// open at a time have one each. An asynchronous annotation has none.
//
// Where what two annotations launched follows without a gap of 2 ns, PyTorch's
// overlap, and viewers push the second into a row of its own. Ours touch: the
// first takes of the gap what there is. (In PyTorch's files of real jobs there
// are no such gaps; a stream needs hundreds of ns from one kernel to the next.)
//
// Threads: const and safe to call concurrently.
#ifndef KYMO_PROFILER_NORMALIZE_DEVICE_ANNOTATIONS_H_
#define KYMO_PROFILER_NORMALIZE_DEVICE_ANNOTATIONS_H_

#include <span>

#include "profiler/model/trace_shard.h"

namespace kymo::normalize {

// A shard with the annotations alone; empty where the shards have none to
// add, or bring such of their own (an imported trace). Linear, and nothing
// where no stream has events.
model::TraceShard ProjectAnnotations(std::span<const model::TraceShard> shards);

}  // namespace kymo::normalize

#endif  // KYMO_PROFILER_NORMALIZE_DEVICE_ANNOTATIONS_H_
