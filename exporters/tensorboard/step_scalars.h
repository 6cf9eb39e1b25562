// step_scalars.h - the time and memory of a program's steps, as TensorBoard's
// scalars.
//
//   tag                                   | value at step N
//   steps/time_ms                         | how long ProfilerStep#N took
//   steps/operator_time_ms                | self time of all its operations
//   steps/operator_count                  | the number of its operations
//   operator_time_ms/NAME                 | self time of NAME, for the 20
//                                         | operations that took the most
//   memory/POOL_in_use_bytes              | bytes alive at its end
//   memory/POOL_allocated_bytes           | bytes allocated within it
//   memory/POOL_allocations               | number of allocations within it
//
// An operation is a cpu_op. It belongs to the step around it on its own thread.
// An operation on another thread belongs to the last step of its process that
// began before it, unless that step has ended. If several threads have a step
// of one number, their operations add up and the longest step gives the time.
// POOL is heap, mapped, or a device whose memory the program reported.
//
// A trace without steps has no scalars. Cost: two passes over the ranges and
// one over the memory records.
#ifndef KYMO_EXPORTERS_TENSORBOARD_STEP_SCALARS_H_
#define KYMO_EXPORTERS_TENSORBOARD_STEP_SCALARS_H_

#include <vector>

#include "exporters/tensorboard/event_file/event_file.h"
#include "exporters/tensorboard/step_names.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// Sorted by step, then tag.
std::vector<Scalar> StepScalars(const model::Trace& trace,
                                const StepNames& steps);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_STEP_SCALARS_H_
