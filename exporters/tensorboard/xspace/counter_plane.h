// counter_plane.h - the counters of a trace as curves in XProf.
//
//   PlaneIds ids(trace, steps, ...);
//   const std::unique_ptr<Plane> plane = MakeCounterPlane(context, ids);
//
// XProf draws the events of a line called "_counters_" as a curve if the line
// belongs to the plane of a device. This plane holds the program's counters and
// the memory in use (memory_counters.h). If several threads count under one
// name, the thread id follows the name. NaN and infinities cannot be part of a
// curve; they become marks on a line of their own.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_COUNTER_PLANE_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_COUNTER_PLANE_H_

#include <memory>

#include "exporters/tensorboard/xspace/event_bytes.h"
#include "exporters/tensorboard/xspace/plane.h"
#include "exporters/tensorboard/xspace/plane_ids.h"

namespace kymo::tensorboard {

inline constexpr char kCounterPlaneName[] = "/device:CUSTOM:counters";

// The plane has no lines if the trace has no counters. Both arguments must
// outlive the plane.
std::unique_ptr<Plane> MakeCounterPlane(const TraceContext& context,
                                        PlaneIds& ids);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_COUNTER_PLANE_H_
