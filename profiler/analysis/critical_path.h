// critical_path.h - the chain of work that determines how long a trace is.
//
//   const CriticalPath path = FindCriticalPath(trace, Launches(trace), {});
//   for (const PathStep& step : path.steps) Print(step);
//
// The starts and ends of ranges are the nodes of a graph. Its edges say what
// waited for what. The critical path is the path that spends the most time:
//
//   host        along each thread: into a range, from one to the next, out of
//               it. The end of a call that waits for the device is no work: its
//               time is the device's.
//   kernel      from the start of a kernel, copy or set to its end; or, if its
//               stream's next work began before that, to the next one's start
//   launch      from the start of a call to the work that it launched, if that
//               work found its stream empty
//   queue       from a stream's last end to its next work, if that work was
//               launched earlier
//   dependency  a stream waited for an event of another (Stream Wait Event);
//               a call waited for a stream, an event or the device (Stream
//               Sync, Event Sync, Context Sync); one range of a thread after
//               another. It takes no time itself.
//
// Work of one stream overlaps where a kernel lets the next one begin early
// (programmatic dependent launch), and by a microsecond in traces with whole
// microseconds. No work began because of an end that came later. So the work
// before it counts up to where the two overlap, and the path stays as long as
// the time that it took. If the next work was launched only after the work
// before it had begun, its launch is what it waited for.
//
// The graph is that of HolisticTraceAnalysis (critical_path_analysis), with two
// differences. First, a late launch is a launch even if the host had launched
// more work before this work began; there it is queueing. Second, a trace may
// have no records of synchronisation (cuda_sync). Then a call whose name says
// that it waits, such as cudaDeviceSynchronize, waits for what its process
// launched before.
//
// Ties are broken by the order of the edges, so every run finds the same path.
// Cost: linear in the events, plus a sort; about 150 bytes an event.
#ifndef KYMO_PROFILER_ANALYSIS_CRITICAL_PATH_H_
#define KYMO_PROFILER_ANALYSIS_CRITICAL_PATH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/path_cause.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct CriticalPathOptions {
  // Restricts the path to what threads began in [start_ns, end_ns], such as one
  // step of a training loop. Work that they launched in that time belongs to
  // it, whenever it ran. Both 0: no restriction.
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
};

// A part of the path: `event` worked, or waited.
struct PathStep {
  PathCause cause = PathCause::kHost;
  model::EventIndex event = model::kNoEvent;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  DurationNs weight_ns = 0;  // its part in the path's length
};

struct CriticalPath {
  std::vector<PathStep> steps;  // in time
  DurationNs length_ns = 0;     // sum of the weights
};

CriticalPath FindCriticalPath(const model::Trace& trace,
                              const Launches& launches,
                              const CriticalPathOptions& options);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_CRITICAL_PATH_H_
