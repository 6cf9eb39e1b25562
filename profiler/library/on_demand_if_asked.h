// on_demand_if_asked.h - registers with a dynolog daemon where the environment
// asks for it.
#ifndef KYMO_PROFILER_LIBRARY_ON_DEMAND_IF_ASKED_H_
#define KYMO_PROFILER_LIBRARY_ON_DEMAND_IF_ASKED_H_

namespace kymo {

// As AllowOnDemand (kymo/on_demand.h) if KINETO_USE_DAEMON says so, which a
// set-uid program does not listen to. For constructors.
void AllowOnDemandIfAsked() noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_ON_DEMAND_IF_ASKED_H_
