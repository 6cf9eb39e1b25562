// counter_plane.h - what a trace counts over time, as XProf draws it.
//
//   PlaneIds ids(trace, steps, ...);
//   const std::unique_ptr<Plane> plane = MakeCounterPlane(context, ids);
//
// XProf draws events of lines called "_counters_" as curves, in planes of
// devices. The program's counters are there, and the memory in use
// (memory_counters.h); where several threads count under one name, the thread
// id follows it. NaN and infinities are marks on a line of their own.
#ifndef KYMO_EXPORTERS_TENSORBOARD_COUNTER_PLANE_H_
#define KYMO_EXPORTERS_TENSORBOARD_COUNTER_PLANE_H_

#include <memory>

#include "exporters/tensorboard/event_bytes.h"
#include "exporters/tensorboard/plane.h"
#include "exporters/tensorboard/plane_ids.h"

namespace kymo::tensorboard {

inline constexpr char kCounterPlaneName[] = "/device:CUSTOM:counters";

// Without lines where nothing is counted. What is given must outlive the plane.
std::unique_ptr<Plane> MakeCounterPlane(const TraceContext& context,
                                        PlaneIds& ids);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_COUNTER_PLANE_H_
