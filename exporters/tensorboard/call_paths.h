// call_paths.h - the operations of a program as a tree: who called what, how
// often, and what it took.
//
//   ProfilerStep                  count 3
//     forward                     count 3
//       matmul                    count 9    total_ns, self_ns, host_bytes
//     backward                    count 3
//   (device 0)
//     sgemm                       of a stream of device 0
//
//   for (const CallPath& path : FindCallPaths(trace, steps, 4'000)) ...
//
// A path is a name below a path, of whichever thread. Steps are one path,
// whatever their numbers. Ranges of streams stand below a path of their device.
// Instants and asynchronous ranges are no paths.
//
// Of more paths than asked for, those stay that took the longest; what is left
// out below a path is one path there, `is_other`, with the sums of all. Paths
// deeper than kMaxDepth are left out too.
//
// Cost: one pass over the trace on one thread, and memory for 100 000 paths at
//   most. The same trace gives the same paths.
#ifndef KYMO_EXPORTERS_TENSORBOARD_CALL_PATHS_H_
#define KYMO_EXPORTERS_TENSORBOARD_CALL_PATHS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

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
  int32_t device_index = -1;  // of streams
  bool is_device = false;     // the path that stands for the device itself
  bool is_other = false;      // stands for `left_out` paths or more
  uint32_t left_out = 0;
  model::EventIndex first_event = model::kNoEvent;
  int64_t count = 0;
  DurationNs total_ns = 0;
  DurationNs self_ns = 0;
  // Allocated while it was the innermost path, whatever was freed again.
  int64_t host_bytes = 0;
  int64_t device_bytes = 0;
};

// Parents stand before their children, which stand in the order of their first
// calls, with the other ones last.
std::vector<CallPath> FindCallPaths(const model::Trace& trace,
                                    const StepNames& steps, size_t max_paths);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_CALL_PATHS_H_
