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
// A slice of a frame covers consecutive samples that share the stack down to
// this frame. It ends one period after the last of them, or at the next sample
// if that comes earlier. A gap of more than 1.5 periods ends all slices. For a
// sample that stands for two periods or more, that time is the period. Two
// frames are the same if function and module are the same; the line does not
// matter.
#ifndef KYMO_EXPORTERS_TIMELINE_FLAME_SLICES_H_
#define KYMO_EXPORTERS_TIMELINE_FLAME_SLICES_H_

#include <span>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/trace.h"

namespace kymo::timeline {

// Viewers drop slices below a depth of 512. Frames inside kMaxFlameDepth others
// are therefore left out.
inline constexpr uint32_t kMaxFlameDepth = 500;

struct FlameSlice {
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;  // > start_ns
  model::FrameId frame{};
  bool is_leaf = false;  // the innermost frame when the slice began
};

// The period of a trace's samples; 1 ms if the trace does not state one.
inline DurationNs SlicePeriodNs(const model::Trace& trace) {
  return trace.sampling_period_ns() > 0 ? trace.sampling_period_ns() : kNsPerMs;
}

// Slices in the order of their starts, outer slices first.
// REQUIRES: `samples` are those of one thread in the order of time, and
// period_ns > 0.
std::vector<FlameSlice> MakeFlameSlices(
    const model::StackTable& stacks,
    std::span<const model::StackSample> samples, DurationNs period_ns);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_FLAME_SLICES_H_
