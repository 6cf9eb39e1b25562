// flame_slices.h - the samples of one thread as nested slices.
//
//   time      0     1     2     3           (periods; o = sample)
//   samples   o     o     o     o
//             main  main  main  main
//             f     f           f
//                   g
//   slices    [main                 ]
//             [f          ]     [f  ]
//                   [g    ]
//
// A frame's slice lasts over the consecutive samples that share the stack down
// to it and one period beyond the last, or until the next sample if that is
// earlier. A gap of more than 1.5 periods ends all slices. Frames are the same
// when function and module are, whatever the line.
#ifndef KYMO_EXPORTERS_TIMELINE_FLAME_SLICES_H_
#define KYMO_EXPORTERS_TIMELINE_FLAME_SLICES_H_

#include <span>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"

namespace kymo::timeline {

// Viewers drop slices nested deeper than 512; the inner frames are left out.
inline constexpr uint32_t kMaxFlameDepth = 500;

struct FlameSlice {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;  // > start_ns
  model::FrameId frame{};
  bool is_leaf = false;  // the innermost frame when the slice began
};

// Slices in start order, outer ones first. `samples` are of one thread, in
// time order.
// REQUIRES: period_ns > 0.
std::vector<FlameSlice> MakeFlameSlices(
    const model::StackTable& stacks,
    std::span<const model::StackSample> samples, DurationNs period_ns);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_FLAME_SLICES_H_
