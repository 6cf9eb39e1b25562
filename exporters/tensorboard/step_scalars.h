// step_scalars.h - what the steps of a program took, as TensorBoard's scalars.
//
//   tag                                   | value at step N
//   steps/time_ms                         | how long ProfilerStep#N took
//   steps/operator_time_ms                | self time of all its operations
//   steps/operator_count                  | how many it had
//   operator_time_ms/NAME                 | self time of NAME, of the 20
//                                         | operations that took the most
//   memory/POOL_in_use_bytes              | alive at its end
//   memory/POOL_allocated_bytes           | allocated within it
//   memory/POOL_allocations               | how often
//
// An operation is a cpu_op. It belongs to the step around it, or, of another
// thread than its step's, to the last step of its process that began before it
// if that has not ended. Of steps of one number on several threads operations
// add up and the longest is the step's time. POOL is heap, mapped, or a device
// of which the program reported memory.
//
// No steps, no scalars. Cost: two passes over the ranges and one over the
// memory records.
#ifndef KYMO_EXPORTERS_TENSORBOARD_STEP_SCALARS_H_
#define KYMO_EXPORTERS_TENSORBOARD_STEP_SCALARS_H_

#include <vector>

#include "exporters/tensorboard/event_file/event_file.h"
#include "exporters/tensorboard/step_names.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// By step, then tag.
std::vector<Scalar> StepScalars(const model::Trace& trace,
                                const StepNames& steps);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_STEP_SCALARS_H_
