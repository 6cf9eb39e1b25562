// device_annotations.h - annotations of the program, projected onto streams.
//
//   thread   [ step                         ]
//              launch a   launch b   wait
//   stream                   [a]    [b]
//   added                   [ step     ]
//
// PyTorch's rule: an annotation gets one gpu_user_annotation on each stream on
// which calls of its thread launched work while it was open. It lasts from the
// earliest start to the latest end of that work. It is 1 ns longer on both
// sides, so that it encloses the first and the last piece of work. Several
// annotations that are open at the same time get one each. An asynchronous
// annotation gets none.
//
// Two annotations whose work is less than 2 ns apart overlap in PyTorch, and
// viewers then push the second into a row of its own. Ours only touch: the
// first annotation takes what there is of the gap. (PyTorch's files of real
// jobs have no such gaps; a stream needs hundreds of ns from one kernel to the
// next.)
//
// Threads: const and safe to call concurrently.
#ifndef KYMO_PROFILER_NORMALIZE_DEVICE_ANNOTATIONS_H_
#define KYMO_PROFILER_NORMALIZE_DEVICE_ANNOTATIONS_H_

#include <span>

#include "profiler/model/trace_shard.h"

namespace kymo::normalize {

// Returns a shard that holds only these annotations. It is empty if there is
// nothing to add, or if the shards bring device annotations of their own (an
// imported trace). Cost: linear; nothing where no stream has events.
model::TraceShard ProjectAnnotations(std::span<const model::TraceShard> shards);

}  // namespace kymo::normalize

#endif  // KYMO_PROFILER_NORMALIZE_DEVICE_ANNOTATIONS_H_
