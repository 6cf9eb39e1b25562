// call_paths.h - the operations of a program as a tree: who called what, how
// often, and how long it took.
//
//   ProfilerStep                  count 3
//     forward                     count 3
//       matmul                    count 9    total_ns, self_ns, host_bytes
//     backward                    count 3
//   (device 0)
//     sgemm                       ran on a stream of device 0
//
//   const auto paths = FindCallPaths(trace, steps, families, 4'000);
//
// A path is a name below another path. Threads share paths. All steps are one
// path, whatever their numbers, and so is a family of names (name_families.h).
// Ranges of streams stand below a path of their device. Instants and
// asynchronous ranges have no path.
//
// If there are more than `max_paths` paths, those that took the longest stay.
// Where paths are left out below a parent, the parent gets one more path with
// `is_other`, which holds their sums. Paths deeper than kMaxDepth are left out
// too.
//
// Cost: one pass over the trace on one thread. Memory: at most 100 000 paths.
//   The same trace gives the same paths.
#ifndef KYMO_EXPORTERS_TENSORBOARD_CALL_PATHS_H_
#define KYMO_EXPORTERS_TENSORBOARD_CALL_PATHS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exporters/tensorboard/name_families.h"
#include "exporters/tensorboard/step_names.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

inline constexpr uint32_t kNoPath = ~uint32_t{0};

struct CallPath {
  static constexpr uint32_t kMaxDepth = 50;

  uint32_t parent = kNoPath;
  uint32_t depth = 0;
  model::NameId name = model::kEmptyName;
  int32_t device_index = -1;  // of the stream; -1 on the host
  bool is_device = false;     // this path stands for the device itself
  bool is_other = false;      // stands for at least `left_out` paths
  uint32_t left_out = 0;
  model::EventIndex first_event = model::kNoEvent;
  int64_t count = 0;
  DurationNs total_ns = 0;
  DurationNs self_ns = 0;
  // The bytes that were allocated while this path was the innermost one. Later
  // frees do not reduce them.
  int64_t host_bytes = 0;
  int64_t device_bytes = 0;
};

// Parents come before their children. Children come in the order of their first
// calls, and paths with `is_other` come last.
std::vector<CallPath> FindCallPaths(const model::Trace& trace,
                                    const StepNames& steps,
                                    const NameFamilies& families,
                                    size_t max_paths);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_CALL_PATHS_H_
