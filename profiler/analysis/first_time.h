// first_time.h - the time from which files and pages count.
//
//   json.Member("begin_ns", wait.begin_ns - FirstTimeNs(trace));
//
// Cost: linear in samples, counters, memory records and waits.
#ifndef KYMO_PROFILER_ANALYSIS_FIRST_TIME_H_
#define KYMO_PROFILER_ANALYSIS_FIRST_TIME_H_

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// The start of the recording, or the earliest time of anything in the trace if
// that is earlier.
TimeNs FirstTimeNs(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_FIRST_TIME_H_
